import { readFileSync } from 'node:fs'
import { encodeHeader, type Header, headerHash } from '@ratatosk/block'
import { CborWriter, compareBytes, fromHex } from '@ratatosk/cbor'
import { blake2b224, type Credential, keyAddress, scriptAddress, scriptHash } from '@ratatosk/ledger'
import { constr, type PlutusData } from '@ratatosk/ledger/plutus-data'
import { registryTokenName } from '../datum/registry.js'
import { rootTokenName } from '../datum/state-queue.js'
import { applyParameters, compiledCode, type PlutusScript, type ValidatorTitle } from '../scripts.js'
import { type TestInput, type TestOutput, type TestTransaction, type Token, testKey } from './transaction.js'

/** The policy of `verdict-policy.ts`, compiled by `scripts/write-verdict.mjs`, for other packages too. */
const verdictFile = new URL('../../src/test/verdict.json', import.meta.url)

export const verdict: { readonly script: PlutusScript; readonly hash: Uint8Array } = (() => {
  const { program }: { program: string } = JSON.parse(readFileSync(verdictFile, 'utf8'))
  const flat = fromHex(program)
  const code = new CborWriter(flat.length + 5).bytes(flat).toBytes()
  const hash = scriptHash('PlutusV3', code)
  return { script: { language: 'PlutusV3', bytes: code, hash }, hash }
})()

export const verdictToken = (header: Header, policy = verdict.hash, quantity = 1n): Token => ({
  policy,
  name: headerHash(header),
  quantity,
})

export const convicting = (header: Header) => ({ policy: verdict.hash, redeemer: encodeHeader(header) })

export const administrator = testKey('administrator')
export const operator = testKey('operator')
export const otherOperator = testKey('other operator')
export const stranger = testKey('stranger')

const maturityWindow = 30_000n
export const turnLength = 60_000n
const takeOverAfter = 15_000n
export const bond = 500_000_000n
const releaseDelay = 120_000n
export const maxOperators = 4n
export const summonsTerms = {
  bond: 3_000_000n,
  reward: 80_000n,
  byteReward: 35n,
  period: 10_000n,
  maturityWindow: 120_000n,
}
export const slashPenalty = 50_000_000n
export const eventWait = 20_000n
export const reserveMin = 5_000_000n
export const payoutFee = 300_000n
const blockVersion = 1n

export const rootName = rootTokenName('RATATOSK')
export const registryName = registryTokenName('RATATOSK')

export interface Contract {
  readonly script: PlutusScript
  readonly policy: Uint8Array
  readonly address: Uint8Array
  /** The same payment credential with a staking part. */
  readonly stakedAddress: Uint8Array
}

/** The contracts, as published or with one of them replaced by a variant. */
export interface World {
  readonly queue: Contract
  readonly registry: Contract
  readonly summons: Contract
  readonly bridge: Contract
  readonly events: Contract
}

/** A program that replaces a published one. */
interface Variant {
  readonly program: Uint8Array
  /** Parameters that precede those of the published script. */
  readonly leading: readonly PlutusData[]
}

/** A policy outside the list of verdicts and the protocol: a native script that allows everything. */
export const foreignScript = Uint8Array.of(0x82, 0x01, 0x80)
export const foreignPolicy = scriptHash('native', foreignScript)
export const foreign = (name: Uint8Array): Token => ({ policy: foreignPolicy, name, quantity: 1n })

/** A verdict policy that allows everything, to test the queue with any token: around the foreign script. */
export const openVerdict = (() => {
  const bytes = Uint8Array.of(0x82, 0x01, 0x81, ...foreignScript)
  return { bytes, hash: scriptHash('native', bytes) }
})()

/** The policies that the bridge backs, in ascending order: the foreign one, and five more. */
export const bridgedPolicies: readonly Uint8Array[] = [
  foreignPolicy,
  ...Array.from({ length: 5 }, (_, i) => blake2b224(Uint8Array.of(i))),
].sort(compareBytes)

/** The output that `init` of the registry spends: that of the test input with this id. */
export const deploymentInput = 7

export interface WorldOptions {
  readonly variants?: { readonly [title in ValidatorTitle]?: Variant }
  readonly maturityWindow?: bigint
  readonly administrator?: Credential
  readonly permissioned?: boolean
  readonly verdictPolicies?: readonly Uint8Array[]
  /** `false` for a state queue without a bridge. */
  readonly bridge?: boolean
}

export function createWorld(options: WorldOptions = {}): World {
  const open = (title: ValidatorTitle, parameters: readonly PlutusData[]): Contract => {
    const variant = options.variants?.[title]
    return variant === undefined
      ? contract(compiledCode(title), parameters)
      : contract(wrapped(variant.program), [...variant.leading, ...parameters])
  }
  const { kind, hash } = options.administrator ?? { kind: 'key', hash: administrator.hash }
  const credential = constr(kind === 'key' ? 0 : 1, hash)
  const registry = lazily(() =>
    open('operator_registry', [
      registryName,
      rootName,
      credential,
      constr(0, new Uint8Array(32).fill(deploymentInput), 0n),
      constr(options.permissioned === false ? 0 : 1),
      bond,
      turnLength,
      releaseDelay,
      maxOperators,
      slashPenalty,
    ]),
  )
  const bridge = lazily(() =>
    open('bridge', [registry().policy, rootName, bridgedPolicies, reserveMin, payoutFee]),
  )
  const events = lazily(() => open('events', [bridge().policy, eventWait, 0n, bridgedPolicies]))
  const queue = lazily(() =>
    open('state_queue', [
      rootName,
      credential,
      options.maturityWindow ?? maturityWindow,
      registry().policy,
      turnLength,
      takeOverAfter,
      blockVersion,
      options.verdictPolicies ?? [openVerdict.hash, verdict.hash],
      options.bridge === false ? new Uint8Array() : bridge().policy,
    ]),
  )
  const { bond: questionBond, reward, byteReward, period, maturityWindow: window } = summonsTerms
  const summons = lazily(() => open('summons', [questionBond, reward, byteReward, period, window]))
  return {
    get queue() {
      return queue()
    },
    get registry() {
      return registry()
    },
    get summons() {
      return summons()
    },
    get bridge() {
      return bridge()
    },
    get events() {
      return events()
    },
  }
}

/** Applying parameters to a script takes 80 ms, and few tests need all scripts. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const wrapped = (program: Uint8Array) => new CborWriter(program.length + 5).bytes(program).toBytes()

function contract(code: Uint8Array, parameters: readonly PlutusData[]): Contract {
  const script = applyParameters(code, parameters)
  return {
    script,
    policy: script.hash,
    address: scriptAddress(script.hash, 0).bytes,
    stakedAddress: scriptAddress(script.hash, 0, { kind: 'key', hash: stranger.hash }).bytes,
  }
}

export const walletAddress = (hash: Uint8Array): Uint8Array => keyAddress(hash, 0).bytes

export const ada = (amount: number): bigint => BigInt(amount) * 1_000_000n

export const wallet = (lovelace: bigint, tokens: readonly Token[] = []): TestOutput => ({
  address: walletAddress(operator.hash),
  lovelace,
  tokens,
})

export const root = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

/** A reference input that holds the contract's script. */
export const scriptReference = ({ script }: Pick<Contract, 'script'>, id = 250): TestInput => ({
  id,
  output: { ...wallet(ada(20)), script },
})

export const changeOutput = (
  transaction: TestTransaction,
  index: number,
  change: Partial<TestOutput>,
): TestTransaction => ({
  ...transaction,
  outputs: transaction.outputs.map((output, i) => (i === index ? { ...output, ...change } : output)),
})

export const changeInput = (
  transaction: TestTransaction,
  id: number,
  change: Partial<TestOutput>,
): TestTransaction => ({
  ...transaction,
  inputs: transaction.inputs.map((input) =>
    input.id === id ? { ...input, output: { ...input.output, ...change } } : input,
  ),
})

/** A native script that asks for two of three signatures. */
export const multisig = (() => {
  const writer = new CborWriter().array(3).uint(3).uint(2).array(3)
  for (const { hash } of [administrator, operator, otherOperator]) writer.array(2).uint(0).bytes(hash)
  const bytes = writer.toBytes()
  return { bytes, hash: scriptHash('native', bytes) }
})()

/** The input that shows the authority of the script; it sorts behind all others. */
export const multisigInput = 60

/** The same transaction, authorised by the native script instead of the administrator's key. */
export const byMultisig = (transaction: TestTransaction): TestTransaction => ({
  ...transaction,
  inputs: [
    ...transaction.inputs,
    {
      id: multisigInput,
      output: { address: Uint8Array.of(0x70, ...multisig.hash), lovelace: ada(5) },
    },
  ],
  signatories: transaction.signatories.filter((hash) => hash !== administrator.hash),
  nativeScripts: [multisig.bytes],
})
