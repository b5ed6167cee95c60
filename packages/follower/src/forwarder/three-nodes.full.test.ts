import { chain } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import { expect, test } from 'vitest'
import { forward, funds, lovelace, openNode, user } from './test/nodes.js'

test('of three nodes, each has what any of them accepts, and nothing goes in circles', async (context) => {
  const nodes = await Promise.all(
    (['PostgreSQL and Redis', 'PostgreSQL and Redis', 'PGlite'] as const).map((name) =>
      openNode(context, name),
    ),
  )
  const others = (own: number) => nodes.filter((_, n) => n !== own).map(({ url }) => url)
  const forwarders = nodes.map((node, own) => forward(node, others(own), { repeatMs: 300 }))
  const sent = funds.slice(0, 10).flatMap(({ reference }) => chain(user, reference, lovelace, 5))
  const [first, second, third] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]]
  await first.accept(sent)
  const all = async () => (await Promise.all(nodes.map((node) => node.count(sent)))).every((n) => n === 50)
  await until(all)
  expect(first.asked.submit, 'the first node had accepted it before anyone').toBe(0)
  const questions = async (count: number) => {
    const before = [second, third].map(({ asked }) => asked.status)
    await until(() => [second, third].every(({ asked }, n) => asked.status >= before[n]! + count))
  }
  // All questions under way have arrived after one round.
  await questions(100)
  const posts = () => nodes.map(({ asked }) => asked.submit)
  const before = posts()
  await questions(100)
  expect(posts()).toEqual(before)
  expect(forwarders[0]!.counts()).toMatchObject({ refused: 0, failed: 0 })
  expect(forwarders.flatMap(({ warnings }) => warnings)).toEqual([])
})
