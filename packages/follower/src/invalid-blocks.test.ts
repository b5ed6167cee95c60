import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference, scriptHash, timeToSlot } from '@ratatosk/ledger'
import { keyOf, SourceChain, signed, slots } from '@ratatosk/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { openEvidence } from './evidence.js'
import { follow } from './test/following.js'
import { serve } from './test/serve.js'

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
