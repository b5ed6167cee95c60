// Stands for vitest where a compiled test is walked: runs its tests, of a table the first row, and expects
// nothing. The walk ends where the test first compares an object.
import { nextWindow } from './enter.mjs'

const finished = []
let running = Promise.resolve()

export function it(_name, body) {
  running = running.then(body).then(() => Promise.all(finished.map((end) => end())))
}
it.each = ([first]) => {
  return (name, body) => it(name, () => body(first))
}

export const test = it
export const describe = (_name, body) => body()
export const beforeAll = (begin) => {
  running = running.then(begin)
}
export const afterAll = (end) => finished.push(end)

const comparison = new Proxy(() => {}, {
  get(_, matcher) {
    if (matcher === 'toMatchObject') nextWindow()
    return comparison
  },
  apply: () => undefined,
})
export const expect = () => comparison
