import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference, scriptHash, timeToSlot } from '@ratatosk/ledger'
import { openStore } from '@ratatosk/store'
import { keyOf, SourceChain, signed, slots } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openEvidence } from './evidence.js'
import { rebuildUtxos } from './ledger-state.js'
import { follow, serve } from './test/following.js'

const ada = 1_000_000n

interface Hostile {
  readonly cbors: readonly Uint8Array[]
  /** Outputs that the block spends and that do not exist. */
  readonly missing?: readonly Uint8Array[]
}

/** A transfer that also mints under a native script which asks for a missing signature. */
function failingScript({ coins: [coin] }: SourceChain): Uint8Array {
  const { key, reference } = coin!
  const script = new CborWriter().array(2).uint(0).bytes(new Uint8Array(28).fill(9)).toBytes()
  const policy = scriptHash('native', script)
  const body = new CborWriter().map(4).uint(0).tag(258).array(1)
  body.array(2).bytes(reference.transactionId).uint(reference.index)
  const value = new CborWriter()
    .array(2)
    .uint(5n * ada)
    .map(1)
    .bytes(policy)
    .map(1)
    .bytes(Uint8Array.of(1))
    .uint(1)
  body.uint(1).array(1).map(2).uint(0).bytes(key.address).uint(1).raw(value.toBytes())
  body.uint(2).uint(0)
  body.uint(9).map(1).bytes(policy).map(1).bytes(Uint8Array.of(1)).uint(1)
  const id = blake2b256(body.toBytes())
  const cbor = new CborWriter().array(4).raw(body.toBytes()).map(2)
  cbor.uint(0).tag(258).array(1).array(2).bytes(key.publicKey).bytes(key.sign(id))
  cbor.uint(1).tag(258).array(1).raw(script)
  return cbor.boolean(true).null().toBytes()
}

const hostile: [string, string, (chain: SourceChain) => Hostile][] = [
  [
    'an unsigned transaction',
    'InvalidWitnessesUTXOW',
    ({ coins: [coin] }) => ({
      cbors: [
        signed(
          { ...coin!.key, sign: () => new Uint8Array(64) },
          { inputs: [coin!.reference], outputs: [5n * ada] },
        ).cbor,
      ],
    }),
  ],
  [
    'a transaction without the signature of the owner',
    'MissingVKeyWitnessesUTXOW',
    ({ coins: [coin] }) => ({
      cbors: [signed(keyOf(77), { inputs: [coin!.reference], outputs: [5n * ada] }).cbor],
    }),
  ],
  [
    'a transaction that creates value',
    'ValueNotConservedUTxO',
    ({ coins: [coin] }) => ({
      cbors: [signed(coin!.key, { inputs: [coin!.reference], outputs: [1_000_000_000n * ada] }).cbor],
    }),
  ],
  ['a script that fails', 'ScriptWitnessNotValidatingUTXOW', (chain) => ({ cbors: [failingScript(chain)] })],
  [
    'an input that does not exist',
    'BadInputsUTxO',
    ({ coins: [coin] }) => {
      const reference = { transactionId: new Uint8Array(32).fill(7), index: 0 }
      return {
        cbors: [signed(coin!.key, { inputs: [reference], outputs: [5n * ada] }).cbor],
        missing: [encodeOutputReference(reference)],
      }
    },
  ],
  [
    'an input that a later transaction makes',
    'BadInputsUTxO',
    ({ coins: [coin, other] }) => {
      const later = signed(other!.key, { inputs: [other!.reference], outputs: [5n * ada] })
      const referenceInputs = [{ transactionId: fromHex(later.id), index: 0 }]
      const reading = signed(coin!.key, { inputs: [coin!.reference], outputs: [5n * ada], referenceInputs })
      return { cbors: [reading.cbor, later.cbor] }
    },
  ],
]

it.each(hostile)(
  'does not archive a block with %s, reports it and keeps its body',
  async (_what, predicate, make) => {
    const chain = new SourceChain()
    for (let n = 0; n < 2; n++) await chain.commit(3)
    const { cbors, missing } = make(chain)
    const wrong = await chain.commitAny(cbors, missing)
    const evidenceDir = await mkdtemp(join(tmpdir(), 'ratatosk-evidence-'))
    onTestFinished(() => rm(evidenceDir, { recursive: true, force: true }))

    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      evidence: openEvidence({ dir: evidenceDir, maxBytes: 1_000_000 }),
      pollMs: 20,
    })
    follower.synced().catch(() => undefined)
    const line = await log.line(({ message }) => message === 'Invalid block')
    const hash = toHex(wrong.headerHash)
    expect(line).toMatchObject({ level: 'error', height: 3, headerHash: hash, position: 0, invalidBlocks: 1 })
    expect(line.failures).toEqual(expect.arrayContaining([expect.objectContaining({ predicate })]))
    expect(follower.status()).toMatchObject({
      height: 2n,
      target: 3n,
      invalid: { height: 3n, headerHash: wrong.headerHash, position: 0 },
      invalidBlocks: 1,
    })
    expect((await archive.tip())?.height).toBe(2n)
    expect(log.backedOff).toEqual([])

    const evidence = JSON.parse(await readFile(join(evidenceDir, `${hash}.json`), 'utf8'))
    expect(evidence).toMatchObject({ headerHash: hash, height: 3, header: toHex(wrong.header), position: 0 })
    const body = await readFile(join(evidenceDir, `${hash}.body.cbor`))
    expect(body.equals(encodeBlockBody(bodyOf(cbors)))).toBe(true)

    // Reported once, although layer 1 is read many times.
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(log.lines.filter(({ message }) => message === 'Invalid block')).toHaveLength(1)

    chain.remove(1)
    await chain.commit(2)
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(follower.status().invalid).toBeUndefined()
  },
)

it('does not archive a block that spends an output twice, and does not blame the peer', async () => {
  const chain = new SourceChain()
  await chain.commit(3)
  const { key, reference } = chain.coins[0]!
  const wrong = await chain.commitAny([
    signed(key, { inputs: [reference], outputs: [5n * ada] }).cbor,
    signed(key, { inputs: [reference], outputs: [2n * ada, 3n * ada] }).cbor,
  ])
  const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
  follower.synced().catch(() => undefined)
  await log.line(({ message }) => message === 'Invalid block')
  expect((await archive.tip())?.height).toBe(1n)
  expect(follower.status().invalid).toMatchObject({
    headerHash: wrong.headerHash,
    position: 1,
    reason: expect.stringMatching(/a second time/),
  })
  expect(log.backedOff).toEqual([])
})

it('does not archive a block of another block version', async () => {
  const chain = new SourceChain()
  await chain.commit(3)
  await chain.commit(3, { blockVersion: 1n })
  const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
  follower.synced().catch(() => undefined)
  await log.line(({ message }) => message === 'Invalid block')
  expect((await archive.tip())?.height).toBe(1n)
  expect(follower.status().invalid?.reason).toMatch(/block version 1/)
  expect(log.backedOff).toEqual([])
})

it('does not archive a block with a transaction whose validity ended before it', async () => {
  const chain = new SourceChain()
  await chain.commit(3)
  const { key, reference } = chain.coins[0]!
  const { endTime } = chain.tip!.fields
  const cbor = (invalidHereafter: bigint) =>
    signed(key, { inputs: [reference], outputs: [5n * ada], invalidHereafter }).cbor
  await chain.commitAny([cbor(timeToSlot(slots, endTime))])
  const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
  follower.synced().catch(() => undefined)
  const line = await log.line(({ message }) => message === 'Invalid block')
  expect(line.failures).toEqual([expect.objectContaining({ predicate: 'OutsideValidityIntervalUTxO' })])
  chain.remove(1)
  await chain.commitAny([cbor(timeToSlot(slots, endTime) + 1n)])
  await follower.synced()
  expect(follower.status()).toMatchObject({ height: 2n })
})

async function commit(chain: SourceChain, blocks: number, transactions = 3): Promise<void> {
  for (let n = 0; n < blocks; n++) await chain.commit(transactions)
}

const hashes = (blocks: readonly { readonly headerHash: Uint8Array }[]) =>
  blocks.map(({ headerHash }) => Buffer.from(headerHash).toString('hex'))

describe('a block that layer 1 has removed', () => {
  it('is removed from the archive with all later blocks, and new blocks replace them', async () => {
    const chain = new SourceChain()
    await commit(chain, 6)
    chain.merge(2)
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    const [gone] = chain.blocks.slice(-3)
    chain.remove(3)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(await archive.byHash(gone!.headerHash)).toBeUndefined()
    expect(follower.status()).toMatchObject({ height: 3n, target: 3n })
    expect(log.lines).toContainEqual(
      expect.objectContaining({ from: 4, to: 6, message: 'Removed blocks that layer 1 no longer has' }),
    )
    await commit(chain, 4, 5)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
  })

  it('may be replaced before the follower reads layer 1 again', async () => {
    const chain = new SourceChain()
    await commit(chain, 5)
    const { follower, archive } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    chain.remove(4)
    await commit(chain, 6)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    chain.remove(7)
    await follower.synced()
    expect(await archive.tip()).toBeUndefined()
    await commit(chain, 1)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
  })

  it('may be older than the states that the trie keeps', async () => {
    const chain = new SourceChain(4)
    await commit(chain, 80, 1)
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    chain.remove(75)
    await commit(chain, 3)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        height: 5,
        message: 'Rebuilding the unspent outputs from the archived bodies',
      }),
    )
  })

  it('remains archived if it was merged', async () => {
    const chain = new SourceChain()
    await commit(chain, 4)
    chain.merge(3)
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    await follower.synced()
    const before = hashes(await archive.range(1n, 99n))
    const merged = chain.blocks.slice(1, 3)
    chain.remove(3)
    await commit(chain, 1)
    follower.synced().catch(() => undefined)
    await log.line(({ message }) => message.startsWith('Layer 1 lacks block 2'))
    expect(hashes(await archive.range(1n, 99n))).toEqual(before)
    // A provider that lags behind and recovers.
    chain.remove(1)
    for (const block of merged) block.state = 'merged'
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(before.slice(0, 3))
    expect(follower.status().trouble).toBeUndefined()
  })
})

describe('an invalid block', () => {
  it('is not archived, delays no peer, and the follower continues after its removal', async () => {
    const chain = new SourceChain()
    await commit(chain, 3)
    const peer = await serve(archiveOfBlocks(chain))
    const { follower, archive, log } = await follow(chain, [peer])
    await follower.synced()
    const wrong = await chain.commit(2, { utxosRoot: new Uint8Array(32).fill(1) })
    await commit(chain, 1)
    follower.synced().catch(() => undefined)
    const line = await log.line(({ level }) => level === 'error')
    const reason = 'The block does not lead to the utxos_root of its header'
    const headerHash = Buffer.from(wrong.headerHash).toString('hex')
    expect(line).toMatchObject({ message: 'Invalid block', height: 4, headerHash, reason })
    expect(log.backedOff).toEqual([])
    expect((await archive.tip())?.height).toBe(3n)
    expect(follower.status()).toMatchObject({
      height: 3n,
      target: 5n,
      trouble: `Block 4 (${headerHash}) is invalid: ${reason}`,
      invalid: { height: 4n, headerHash: wrong.headerHash, reason },
      invalidBlocks: 1,
    })
    chain.remove(2)
    await commit(chain, 2)
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(follower.status()).toEqual({
      height: 5n,
      target: 5n,
      queued: 5,
      syncedAt: expect.any(Date),
      invalidBlocks: 1,
    })
  })

  it('may have a deposits root other than the empty one', async () => {
    const chain = new SourceChain()
    await chain.commit(1, { depositsRoot: new Uint8Array(32).fill(1) })
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))])
    follower.synced().catch(() => undefined)
    expect((await log.line(({ level }) => level === 'error')).reason).toMatch(/deposits/)
    expect(log.backedOff).toEqual([])
  })
})

describe('a follower', () => {
  it('reports that its genesis outputs are not those of the chain', async () => {
    const chain = new SourceChain()
    await commit(chain, 1)
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      genesis: chain.genesis.slice(1),
    })
    follower.synced().catch(() => undefined)
    const { message } = await log.line(({ level }) => level === 'error')
    expect(message).toMatch(/does not begin with the genesis outputs that were given/)
  })

  it('retries while layer 1 is unavailable or the state queue is broken', async () => {
    const chain = new SourceChain()
    await commit(chain, 2)
    let shown: () => ReturnType<SourceChain['read']> = () =>
      Promise.reject(new Error('layer 1 is unavailable'))
    const { follower, archive, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      chain: { read: () => shown() },
      pollMs: 20,
    })
    const synced = follower.synced()
    await log.line(({ message }) => message === 'layer 1 is unavailable')
    shown = async () => {
      const { confirmed, blocks } = await chain.read()
      return { confirmed, blocks: blocks.slice(1) }
    }
    await log.line(({ message }) => message === 'The headers of the state queue do not follow each other')
    expect(await archive.tip()).toBeUndefined()
    shown = () => chain.read()
    await synced
    expect((await archive.tip())?.height).toBe(2n)
  })

  it('resumes after a restart with its trie in a folder, in memory, or deleted', async () => {
    const chain = new SourceChain()
    const trieDir = await mkdtemp(join(tmpdir(), 'ratatosk-archivist-'))
    onTestFinished(() => rm(trieDir, { recursive: true, force: true }))
    const peer = await serve(archiveOfBlocks(chain))
    const { archive } = await openTestStore(openStore)
    const builds: number[] = []
    for (const options of [{ trieDir }, { trieDir }, {}, { trieDir: join(trieDir, 'other') }, { trieDir }]) {
      await commit(chain, 3)
      const { follower, log } = await follow(chain, [peer], { archive, ...options })
      await follower.synced()
      await follower.close()
      expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
      builds.push(log.lines.filter(({ message }) => message.startsWith('Rebuilding the unspent')).length)
    }
    // The first folder is behind the archive when it is opened for the last time.
    expect(builds).toEqual([0, 0, 1, 1, 1])
    const utxos = await rebuildUtxos({ archive, genesis: chain.genesis, height: 15n })
    expect([...utxos.keys()].sort()).toEqual([...chain.utxos.keys()].sort())
  })

  it('resumes after the archive fails to store a block that the trie has', async () => {
    const chain = new SourceChain()
    await commit(chain, 5)
    const { archive } = await openTestStore(openStore)
    let failures = 2
    const failing: typeof archive = {
      ...archive,
      put: async (blocks) => {
        if (failures-- > 0) throw new Error('the disk is full')
        return archive.put(blocks)
      },
    }
    const { follower, log } = await follow(chain, [await serve(archiveOfBlocks(chain))], {
      archive: failing,
      pollMs: 20,
    })
    await follower.synced()
    expect(hashes(await archive.range(1n, 99n))).toEqual(hashes(chain.blocks))
    expect(log.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      'the disk is full',
    ])
  })

  it('ends running requests when it is closed', async () => {
    const chain = new SourceChain()
    await commit(chain, 3)
    const silent = await serve({
      ...archiveOfBlocks(chain),
      body: async function* () {
        await new Promise(() => undefined)
      },
    })
    const { follower, archive } = await follow(chain, [silent])
    const closed = /The follower is closed/
    const waiting = expect(follower.synced()).rejects.toThrow(closed)
    await follower.close()
    await waiting
    await follower.close()
    await expect(follower.synced()).rejects.toThrow(closed)
    expect(await archive.tip()).toBeUndefined()
  })
})
