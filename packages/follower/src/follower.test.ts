import { once } from 'node:events'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { Agent, createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { BlockError, bodyOf, type NewArchivedBlock } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { SourceChain } from '@ratatosk/test-kit'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { createBodyBudget } from './body-budget.js'
import { openEvidence } from './evidence.js'
import { openOutputStore } from './ledger-state.js'
import { askPeer, type PeerRequest } from './peer-request.js'
import { follow, serve } from './test/following.js'

describe('body budget', () => {
  const { signal } = new AbortController()

  /** Whether a promise is settled once all that could settle it has run. */
  async function isSettled(promise: Promise<unknown>): Promise<boolean> {
    let settled = false
    promise.finally(() => {
      settled = true
    })
    await setImmediate()
    return settled
  }

  it('gives the oldest share what it asks for, and the others what is left, once it is', async () => {
    const budget = createBodyBudget(100)
    const [first, second, third] = [budget.open(), budget.open(), budget.open()]
    await second.take(80, signal)
    const waiting = third.take(30, signal)
    expect(await isSettled(waiting)).toBe(false)
    await first.take(1_000, signal)
    second.release()
    expect(await isSettled(waiting)).toBe(false)
    first.end()
    await waiting
    // It is the oldest now.
    await second.take(1_000, signal)
    const more = third.take(1, signal)
    expect(await isSettled(more)).toBe(false)
    second.end()
    await more
  })

  it('leaves a share that is aborted without what it waited for', async () => {
    const budget = createBodyBudget(10)
    const [first, second] = [budget.open(), budget.open()]
    await first.take(10, signal)
    const abort = new AbortController()
    const waiting = second.take(5, abort.signal)
    abort.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    first.release()
    const third = budget.open()
    await third.take(10, signal)
  })

  it('makes a share wait until it is the oldest, or need not be', async () => {
    const budget = createBodyBudget()
    const [first, second, third] = [budget.open(), budget.open(), budget.open()]
    let isNeedless = false
    const waiting = [second.oldest(() => false, signal), third.oldest(() => isNeedless, signal)] as const
    expect(await isSettled(waiting[1])).toBe(false)
    isNeedless = true
    first.release()
    await waiting[1]
    expect(await isSettled(waiting[0])).toBe(false)
    first.end()
    await waiting[0]
  })
})

describe('evidence', () => {
  async function openFolder(maxBytes: number) {
    const parent = await mkdtemp(join(tmpdir(), 'ratatosk-evidence-'))
    onTestFinished(() => rm(parent, { recursive: true, force: true }))
    // Created when it is needed.
    const dir = join(parent, 'invalid-blocks')
    return { dir, evidence: openEvidence({ dir, maxBytes }) }
  }

  /** The arguments of `keep`: a block and the rule that it breaks. */
  const invalid = (n: number, bytes = 1_000): [NewArchivedBlock, BlockError] => [
    {
      headerHash: new Uint8Array(28).fill(n),
      height: BigInt(n),
      header: Uint8Array.of(n),
      merged: false,
      body: new Uint8Array(bytes).fill(n),
    },
    new BlockError('BLOCK_INPUT_MISSING', `Block ${n} is wrong`),
  ]

  async function bodyOf(evidence: ReturnType<typeof openEvidence>, n: number): Promise<Buffer> {
    const chunks: Uint8Array[] = []
    for await (const chunk of evidence.body(new Uint8Array(28).fill(n))) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  it('keeps invalid blocks with their bodies, also for the next process', async () => {
    const { dir, evidence } = await openFolder(1_000_000)
    expect(await evidence.list(10)).toEqual([])
    await evidence.keep(...invalid(1))
    const path = await evidence.keep(...invalid(2, 200_000))
    expect(path).toBe(join(dir, `${toHex(new Uint8Array(28).fill(2))}.json`))
    const next = openEvidence({ dir, maxBytes: 1_000_000 })
    expect(await next.byHash(new Uint8Array(28).fill(2))).toEqual({
      headerHash: new Uint8Array(28).fill(2),
      height: 2n,
      header: Uint8Array.of(2),
      merged: false,
      reason: 'Block 2 is wrong',
      foundAt: expect.any(Date),
    })
    expect(await next.byHash(new Uint8Array(28).fill(3))).toBeUndefined()
    expect((await bodyOf(next, 2)).equals(new Uint8Array(200_000).fill(2))).toBe(true)
    await expect(bodyOf(next, 3)).rejects.toMatchObject({ code: 'FOLLOWER_NO_EVIDENCE' })
    expect((await next.list(10)).map(({ height }) => height).sort()).toEqual([1n, 2n])
    expect(await next.list(1)).toHaveLength(1)
  })

  it('removes the oldest when the folder is full, and what an interrupted write left', async () => {
    const { dir, evidence } = await openFolder(3_900)
    for (const n of [1, 2, 3]) {
      const path = await evidence.keep(...invalid(n))
      await utimes(path!, n, n)
    }
    await writeFile(join(dir, `${toHex(new Uint8Array(28).fill(9))}.body.cbor.tmp`), new Uint8Array(10_000))
    await evidence.keep(...invalid(4, 1_500))
    expect((await evidence.list(10)).map(({ height }) => height)).toEqual([4n, 3n])
    expect(await readdir(dir)).toHaveLength(4)
    // The bodies of valid blocks take room, and are not listed.
    await evidence.keepBody(new Uint8Array(28).fill(6), new Uint8Array(1_200).fill(6))
    expect((await bodyOf(evidence, 6)).equals(new Uint8Array(1_200).fill(6))).toBe(true)
    expect((await evidence.list(10)).map(({ height }) => height)).toEqual([4n])
    await evidence.keepBody(new Uint8Array(28).fill(7), new Uint8Array(5_000))
    // A block that is larger than the folder may be costs the others nothing.
    expect(await evidence.keep(...invalid(5, 5_000))).toBeUndefined()
    expect((await evidence.list(10)).map(({ height }) => height)).toEqual([4n])
  })
})

describe('output store', () => {
  it('keeps what the blocks of the kept states have spent, and nothing that older blocks have', async () => {
    const chain = new SourceChain(3)
    for (let n = 0; n < 68; n++) await chain.commit(1)
    const trieDir = await mkdtemp(join(tmpdir(), 'ratatosk-outputs-'))
    onTestFinished(() => rm(trieDir, { recursive: true, force: true }))
    const { follower } = await follow(chain, [await serve(archiveOfBlocks(chain))], { trieDir })
    await follower.synced()
    await follower.close()
    const outputs = openOutputStore(join(trieDir, 'outputs'))
    const kept = chain.blocks.map(({ cbors }) => outputs.get(bodyOf(cbors).spent[0]!) !== undefined)
    await outputs.close()
    // The newest 64 states before the present one, and one that the next block forgets.
    expect(kept).toEqual(chain.blocks.map((_, place) => place >= 68 - 65))
  })
})

describe('peer request', () => {
  async function serve(
    answer: RequestListener,
  ): Promise<Pick<PeerRequest<number>, 'url' | 'agent' | 'signal'>> {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => {
      agent.destroy()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/`, agent, signal: new AbortController().signal }
  }

  function countingFeed() {
    let bytes = 0
    return {
      push(piece: Uint8Array) {
        bytes += piece.length
      },
      end: () => bytes,
    }
  }

  /** Sends a piece again and again. */
  const dripping =
    (bytes: number, everyMs: number): RequestListener =>
    (_request, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write(Buffer.alloc(bytes)), everyMs)
      response.once('close', () => clearInterval(timer))
    }

  test('a peer that keeps sending is left after the total limit', async () => {
    const feed = countingFeed()
    const call = await serve(dripping(65_536, 20))
    await expect(askPeer({ ...call, feed, stallMs: 60_000, timeoutMs: 500 })).rejects.toMatchObject({
      code: 'FOLLOWER_PEER_ANSWER',
      message: expect.stringContaining('it took more than 500 ms'),
    })
    expect(feed.end()).toBeGreaterThan(0)
  })

  test('a peer that sends byte by byte is left, although each byte asks for room', async () => {
    const call = await serve(dripping(1, 20))
    const room = async () => undefined
    await expect(
      askPeer({ ...call, feed: countingFeed(), room, stallMs: 300, timeoutMs: 60_000 }),
    ).rejects.toMatchObject({ message: expect.stringMatching(/^it sent \d+ bytes in 300 ms$/) })
  })

  test('a peer is not blamed for the time in which this process has no room', async () => {
    const call = await serve((_request, response) => response.writeHead(200).end(Buffer.alloc(10)))
    const room = (bytes: number) => sleep(bytes > 0 ? 1000 : 0)
    expect(await askPeer({ ...call, feed: countingFeed(), room, stallMs: 200, timeoutMs: 800 })).toBe(10)
  })

  test('a peer that switches the protocol is left', async () => {
    const call = await serve(({ socket }) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: none\r\n\r\n')
    })
    const asked = askPeer({ ...call, feed: countingFeed(), stallMs: 60_000, timeoutMs: 60_000 })
    await expect(asked).rejects.toMatchObject({ message: 'it answered with status 101' })
  })
})
