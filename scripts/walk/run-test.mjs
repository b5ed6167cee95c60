// Stands for vitest where a compiled test is walked: runs its tests and expects nothing. The walk ends where
// the test first compares an object.
import { nextWindow } from './enter.mjs'

const finished = []
let running = Promise.resolve()

export function it(_name, body) {
  running = running.then(body).then(() => Promise.all(finished.map((end) => end())))
}

export const afterAll = (end) => finished.push(end)

export const expect = () =>
  new Proxy({}, { get: (_, matcher) => () => (matcher === 'toMatchObject' ? nextWindow() : undefined) })
