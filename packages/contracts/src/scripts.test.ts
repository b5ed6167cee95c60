import { readFileSync } from 'node:fs'
import { CborReader, CborWriter } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import { fraudScript } from './fraud-scripts.js'
import { ChunkFlaw, LedgerFraud, LedgerPart, TransactionFraud, WitnessFraud } from './layout.js'
import {
  bridgeScript,
  compiledCode,
  eventsScript,
  operatorRegistryScript,
  renouncedAdministrator,
  stateQueueScript,
} from './scripts.js'
import { rules } from './test/fraud/transaction/transactions.js'
import { blueprint } from './validators/blueprint.js'

const hash = new Uint8Array(28).fill(1)
const queue = {
  protocol: 'RATATOSK',
  administrator: { kind: 'key', hash },
  maturityWindow: 30_000n,
  registryPolicy: hash,
  turnLength: 60_000n,
  takeOverAfter: 15_000n,
  blockVersion: 1n,
  verdictPolicies: [],
} as const
const registry = {
  protocol: 'RATATOSK',
  administrator: { kind: 'key', hash },
  deploymentOutput: { transactionId: new Uint8Array(32), index: 0 },
  permissioned: true,
  bond: 1n,
  turnLength: 60_000n,
  releaseDelay: 90_000n,
  maxOperators: 10n,
  slashPenalty: 0n,
} as const

const bridge = {
  protocol: 'RATATOSK',
  registryPolicy: hash,
  bridged: [hash],
  reserveMin: 5_000_000n,
  payoutFee: 300_000n,
} as const
const events = { bridge: hash, eventWait: 20_000n, networkId: 0, bridged: [hash] } as const
const nine = Array.from({ length: 9 }, (_, i) => new Uint8Array(28).fill(i))

describe('the blueprint', () => {
  const text = readFileSync(new URL('../plutus.json', import.meta.url), 'utf8')
  const checkedIn = JSON.parse(text)
  const { definitions } = checkedIn

  // It compiles all validators: half a minute alone, and several beside other tests.
  it('is what the validators compile to', { timeout: 600_000 }, () => {
    expect(checkedIn).toEqual(JSON.parse(JSON.stringify(blueprint())))
  })

  it('has the version of the package', () => {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    expect(checkedIn.preamble.version).toBe(JSON.parse(manifest).version)
  })

  it('resolves every reference', () => {
    for (const [, name] of text.matchAll(/"#\/definitions\/(\w+)"/g)) {
      expect(definitions).toHaveProperty(name as string)
    }
  })

  it.each(
    Object.entries({
      LedgerFraudProof: { ...LedgerFraud, ...LedgerPart },
      TransactionFraudProof: TransactionFraud,
      WitnessFraudProof: WitnessFraud,
      ChunkFlaw,
    }),
  )('describes every constructor of %s', (definition, constructors) => {
    const described = definitions[definition].anyOf.map(
      ({ title, index }: { readonly title: string; readonly index: number }) => [title, index],
    )
    const titled = (name: string) => name[0]!.toUpperCase() + name.slice(1)
    expect(described).toEqual(Object.entries(constructors).map(([name, index]) => [titled(name), index]))
  })
})

describe('scripts', () => {
  it('are a CBOR byte string that holds the applied program, and hashed as such', () => {
    const script = stateQueueScript(queue)
    const reader = new CborReader(script.bytes)
    expect(reader.readBytes().length).toBeGreaterThan(compiledCode('state_queue').length)
    reader.assertEnd()
    expect(script.hash).toEqual(scriptHash('PlutusV3', script.bytes))
    expect(new CborWriter().bytes(script.bytes).toBytes().length).toBe(script.bytes.length + 3)
  })

  it('differ by every parameter', () => {
    const other = new Uint8Array(28).fill(2)
    const [key, script] = [
      { kind: 'key', hash: other },
      { kind: 'script', hash },
    ] as const
    const hashes = [
      stateQueueScript(queue),
      stateQueueScript({ ...queue, protocol: 'OTHER' }),
      stateQueueScript({ ...queue, administrator: key }),
      stateQueueScript({ ...queue, administrator: script }),
      stateQueueScript({ ...queue, maturityWindow: 1n }),
      stateQueueScript({ ...queue, registryPolicy: other }),
      stateQueueScript({ ...queue, turnLength: 1n }),
      stateQueueScript({ ...queue, takeOverAfter: 1n }),
      stateQueueScript({ ...queue, blockVersion: 2n }),
      stateQueueScript({ ...queue, verdictPolicies: [hash] }),
      stateQueueScript({ ...queue, verdictPolicies: [hash, other] }),
      stateQueueScript({ ...queue, bridge: hash }),
      stateQueueScript({ ...queue, bridge: other }),
      bridgeScript(bridge),
      bridgeScript({ ...bridge, protocol: 'OTHER' }),
      bridgeScript({ ...bridge, registryPolicy: other }),
      bridgeScript({ ...bridge, bridged: [] }),
      bridgeScript({ ...bridge, bridged: [hash, other] }),
      bridgeScript({ ...bridge, reserveMin: 1_000_000n }),
      bridgeScript({ ...bridge, payoutFee: 0n }),
      eventsScript(events),
      eventsScript({ ...events, bridge: other }),
      eventsScript({ ...events, eventWait: 0n }),
      eventsScript({ ...events, networkId: 1 }),
      eventsScript({ ...events, bridged: nine.slice(1) }),
      operatorRegistryScript(registry),
      operatorRegistryScript({ ...registry, protocol: 'OTHER' }),
      operatorRegistryScript({ ...registry, administrator: key }),
      operatorRegistryScript({ ...registry, administrator: script }),
      operatorRegistryScript({
        ...registry,
        deploymentOutput: { ...registry.deploymentOutput, index: 1 },
      }),
      operatorRegistryScript({
        ...registry,
        deploymentOutput: { ...registry.deploymentOutput, transactionId: new Uint8Array(32).fill(1) },
      }),
      operatorRegistryScript({ ...registry, permissioned: false }),
      operatorRegistryScript({ ...registry, turnLength: 59_000n }),
      operatorRegistryScript({ ...registry, bond: 2n }),
      operatorRegistryScript({ ...registry, releaseDelay: 90_001n }),
      operatorRegistryScript({ ...registry, maxOperators: 11n }),
      operatorRegistryScript({ ...registry, slashPenalty: 1n }),
    ].map(({ hash }) => Buffer.from(hash).toString('hex'))
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  it.each([
    { protocol: '' },
    { protocol: 'A'.repeat(17) },
    { protocol: 'ä' },
    { protocol: 'MBLC_PROTOCOL_16' },
    { administrator: { kind: 'key', hash: new Uint8Array(27) } } as const,
    { registryPolicy: new Uint8Array(29) },
    { maturityWindow: -1n },
    { turnLength: 0n },
    { takeOverAfter: 0n },
    { blockVersion: -1n },
    { blockVersion: 2n ** 32n },
    { verdictPolicies: [hash, new Uint8Array(27)] },
    { bridge: new Uint8Array() },
  ])('refuse %o for a queue', (wrong) => {
    expect(() => stateQueueScript({ ...queue, ...wrong })).toThrow(
      expect.objectContaining({ code: 'CONTRACTS_INVALID_PARAMETER' }),
    )
  })

  it.each([
    { protocol: '' },
    { registryPolicy: new Uint8Array(27) },
    { bridged: [new Uint8Array(27)] },
    { bridged: [hash, hash] },
    { bridged: [hash, new Uint8Array(28)] },
    { bridged: nine },
    { reserveMin: 999_999n },
    { payoutFee: -1n },
  ])('refuse %o for a bridge', (wrong) => {
    expect(() => bridgeScript({ ...bridge, ...wrong })).toThrow(
      expect.objectContaining({ code: 'CONTRACTS_INVALID_PARAMETER' }),
    )
  })

  it.each([{ bridge: new Uint8Array(27) }, { eventWait: -1n }, { bridged: [hash, hash] }, { bridged: nine }])(
    'refuse %o for events',
    (wrong) => {
      expect(() => eventsScript({ ...events, ...wrong })).toThrow(
        expect.objectContaining({ code: 'CONTRACTS_INVALID_PARAMETER' }),
      )
    },
  )

  it.each([
    { bond: -1n },
    { turnLength: 0n },
    { releaseDelay: 59_999n },
    { maxOperators: 0n },
    { maxOperators: 101n },
    { slashPenalty: -1n },
    { slashPenalty: 2n },
    { administrator: renouncedAdministrator },
    { deploymentOutput: { transactionId: new Uint8Array(31), index: 0 } },
    { deploymentOutput: { transactionId: new Uint8Array(32), index: -1 } },
  ])('refuse %o for a registry', (wrong) => {
    expect(() => operatorRegistryScript({ ...registry, ...wrong })).toThrow(
      expect.objectContaining({ code: 'CONTRACTS_INVALID_PARAMETER' }),
    )
  })
})

it.each(['transaction', 'witness'] as const)(
  'makes the script of the %s policy once for its rules',
  (policy) => {
    const script = fraudScript(policy, rules)
    expect(fraudScript(policy, rules)).toBe(script)
    const others = { ...rules, networkId: rules.networkId + 1 }
    expect(Buffer.compare(fraudScript(policy, others).hash, script.hash) === 0).toBe(policy === 'witness')
  },
)
