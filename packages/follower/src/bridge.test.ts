import type { EventSource } from '@ratatosk/block'
import { expect, it } from 'vitest'
import { BridgedChain, bridge, credited, depositOf, paying } from '../../audit/dist/test/bridged-chain.js'
import { follow, rules, serve } from './test/following.js'
import type { FollowerOptions, InvalidBlock } from './types.js'

const [first, second] = [depositOf(1), depositOf(2)]
const bridged = { ...rules, bridge }

/** A chain with deposits, of which one is spent in its block, and with a withdrawal. */
async function chainOfThree() {
  const chain = new BridgedChain()
  const [one, two] = chain.coins as [BridgedChain['coins'][0], BridgedChain['coins'][0]]
  await chain.commit({ deposits: [first] })
  await chain.commit({
    deposits: [second],
    cbors: [paying([one, credited(second)], [9_000_000n, 3_000_000n]).cbor],
  })
  await chain.commit({ cbors: [paying([two, credited(first)], [1_000_000n, 11_000_000n]).cbor] })
  return chain
}

const open = async (chain: BridgedChain, options: Partial<FollowerOptions> = {}) =>
  follow(chain, [await serve(chain)], { rules: bridged, events: chain, pollMs: 20, ...options })

async function until<Value>(what: () => Value | undefined): Promise<Value> {
  for (;;) {
    const value = what()
    if (value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

it('archives blocks with deposits and withdrawals, and starts again from their bodies', async () => {
  const chain = await chainOfThree()
  const { follower, archive } = await open(chain)
  await follower.synced()
  expect(follower.status().height).toBe(3n)
  const bytes: Uint8Array[] = []
  for await (const piece of archive.body(chain.blocks[1]!.headerHash)) bytes.push(piece)
  expect(Buffer.concat(bytes).equals(chain.blocks[1]!.bytes)).toBe(true)
  await follower.close()

  await chain.commit({ deposits: [depositOf(3)] })
  const again = await open(chain, { archive })
  await again.follower.synced()
  expect(again.follower.status().height).toBe(4n)
})

it('asks layer 1 only about the deposits of unmerged blocks', async () => {
  const chain = await chainOfThree()
  chain.merge(2)
  const asked: bigint[] = []
  const events: EventSource = {
    between(start, end) {
      asked.push(start)
      return chain.between(start, end)
    },
  }
  const { follower } = await open(chain, { events })
  await follower.synced()
  expect(asked).toEqual([chain.blocks[2]!.fields.startTime])
})

it('waits until layer 1 is read', async () => {
  const chain = await chainOfThree()
  let isRead = false
  const { startTime } = chain.blocks[1]!.fields
  const events: EventSource = {
    between: async (start, end) =>
      start < startTime || isRead ? chain.between(start, end) : ('not read yet' as const),
  }
  const { follower } = await open(chain, { events })
  const said = await until(() => follower.status().trouble)
  expect(said).toBe('The deposits of block 2 are not read yet')
  expect(follower.status().height).toBe(1n)
  isRead = true
  await follower.synced()
  expect(follower.status()).toMatchObject({ height: 3n })
  expect(follower.status().trouble).toBeUndefined()
})

it('takes a block for invalid that does not credit what layer 1 has', async () => {
  const chain = await chainOfThree()
  const events: EventSource = { between: async () => [first] }
  const found: InvalidBlock[] = []
  const watch: FollowerOptions['watch'] = (block, signal) => {
    found.push(block)
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
  }
  const { follower } = await open(chain, { events, watch })
  const invalid = await until(() => follower.status().invalid)
  expect(invalid).toMatchObject({ height: 2n, reason: expect.stringContaining('credits 1 deposits') })
  expect(found).toMatchObject([{ height: 2n, deposits: [second], bridge }])
})

it('trusts the root of a block that is merged while its deposits are read', async () => {
  const chain = await chainOfThree()
  const events: EventSource = {
    async between(start, end) {
      const due = await chain.between(start, end)
      if (start !== chain.blocks[0]!.fields.startTime) return due
      chain.merge(1)
      return []
    },
  }
  const { follower, log } = await open(chain, { events })
  await follower.synced()
  expect(follower.status()).toMatchObject({ height: 3n, invalidBlocks: 0 })
  expect(JSON.stringify(log)).toContain('Block 1 has left the state queue')
})

it('judges a body that the operator has shown with the deposits of layer 1', async () => {
  const chain = await chainOfThree()
  const withheld = chain.blocks[1]!
  const { follower } = await follow(chain, [], {
    rules: bridged,
    events: chain,
    pollMs: 20,
    own: {
      byHash: async (hash) =>
        Buffer.compare(hash, withheld.headerHash) === 0 ? undefined : chain.byHash(hash),
      byHeight: (height) => chain.byHeight(height),
      body: (hash) => chain.body(hash),
    },
    unavailable: async () => withheld.body.transactions,
  })
  await follower.synced()
  expect(follower.status()).toMatchObject({ height: 3n, invalidBlocks: 0 })
})

it('refuses a body with deposits where there is no bridge', async () => {
  const chain = new BridgedChain()
  await chain.commit({ deposits: [first] })
  const { follower, log } = await follow(chain, [await serve(chain)], { pollMs: 20 })
  const { reason } = await log.line(({ message }) => message === 'Peer backed off')
  expect(reason).toContain('the limit is 0')
  expect(follower.status()).toMatchObject({ height: 0n, invalidBlocks: 0 })
})
