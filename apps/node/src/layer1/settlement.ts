import type { BlockRules } from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { isRenounced, type PlutusScript, verdictPolicies } from '@ratatosk/contracts'
import { type Devnet, testGenesis, testWallets } from '@ratatosk/devnet'
import { type Layer1, type Layer1ErrorCode, type SharedReads, shareReads } from '@ratatosk/layer1'
import type { OutputReference } from '@ratatosk/ledger'
import {
  type ContractParameters,
  type Contracts,
  openContracts,
  readRegistry,
  summonsTerms,
} from '@ratatosk/protocol'
import type { NodeContext } from '../context.js'
import { SettingsError } from '../errors.js'
import { eventWaitOf, verdictsOf } from '../settings/derived.js'
import type { Settings } from '../settings/schema.js'
import type { Storage } from '../storage/open-storage.js'
import { devnetAccounts } from './keys.js'
import { openLayer1 } from './open-layer1.js'

type Reads = Pick<Layer1, 'utxosByUnit'>

export const registryIn = async (contracts: Contracts, layer1: Reads) =>
  readRegistry(contracts, await layer1.utxosByUnit(contracts.scripts.registry.unit))

/** Why a process with this operator would commit nothing; undefined if it is registered, or before init. */
export async function unregisteredLine(
  contracts: Contracts,
  layer1: Reads,
  keyHash: Uint8Array,
): Promise<string | undefined> {
  const entries = (await registryIn(contracts, layer1))?.datum.operators
  if (entries === undefined || entries.some(({ vkey }) => equalBytes(vkey, keyHash))) return undefined
  return (
    `the operator's key ${toHex(keyHash)} is not in the registry, so this node commits no block: once it ` +
    'is the active one, run `ratatosk operator register`, or correct OPERATOR_SEED_PHRASE if another key ' +
    'is registered.'
  )
}

/** Layer 1 and the rollup's contracts on it. */
export interface Settlement {
  readonly layer1: Layer1
  readonly calls: () => readonly Layer1Calls[]
  /** Reads for HTTP clients, who share them so that they cannot spend the provider's quota. */
  readonly reads: SharedReads
  readonly contracts: Contracts
  /** Where layer 1 is, for people; without credentials. */
  readonly place: string
  /** The devnet, while this process hosts it; undefined if layer 1 is none of ours. */
  readonly devnet: (() => Devnet | undefined) | undefined
  /** Why no process hosts the devnet, for people; undefined while one does, or if layer 1 is none of ours. */
  readonly hostFault?: () => string | undefined
}

/** The registry's capacity; a parameter of the contracts. */
const maxOperators = 100n
/** Milliseconds. */
const devnetTakeOverAfter = 15_000n
/** Lovelace: the least that a reserve holds, and the part of a withdrawal that its payer keeps. */
const [reserveMin, payoutFee] = [5_000_000n, 300_000n]

export async function openSettlement(
  context: NodeContext,
  storage: Storage,
  contracts: Contracts,
): Promise<Settlement> {
  const { settings, log } = context
  log.info(`Start: connecting to layer 1 (${settings.LAYER1_PROVIDER})`)
  const { devnet, layer1: opened, ...others } = await openLayer1(context, storage)
  const { layer1, calls } = countCalls(opened)
  // The devnet is in this process or beside it and has no quota.
  const sharing = settings.LAYER1_PROVIDER === 'devnet' ? { freshForMs: 250, callsPerSecond: 50 } : {}
  return { ...others, layer1, calls, reads: shareReads(layer1, sharing), contracts, devnet }
}

/** DEPLOYMENT_OUTPUT; on the devnet, the first genesis output of the wallet that spends it by default. */
function deploymentOutputOf({ DEPLOYMENT_OUTPUT, ADMIN_RENOUNCED }: Settings): OutputReference {
  const { ADMIN_SEED_PHRASE: administrator, OPERATOR_SEED_PHRASE: operator } = devnetAccounts
  const account = ADMIN_RENOUNCED ? operator : administrator
  const { utxos } = testGenesis()
  const first = utxos[(utxos.length / testWallets.wallets.length) * account]
  const [transactionId = '', index] = (DEPLOYMENT_OUTPUT ?? first?.outref ?? '').split('#')
  return { transactionId: fromHex(transactionId), index: Number(index) }
}

/** The policies whose assets come from layer 1, in hex. */
export const bridgedBy = ({ bridge }: Contracts): ReadonlySet<string> =>
  new Set(bridge?.terms.bridged.map(toHex))

/** The rules of blocks, without what runs scripts. */
export const blockRules = (
  { parameters, network }: Pick<NodeContext, 'parameters' | 'network'>,
  contracts: Contracts,
): Omit<BlockRules, 'evaluator'> => ({
  parameters,
  networkId: network.id,
  slots: network.slots,
  bridge: contracts.bridge?.place.script.hash,
  bridged: bridgedBy(contracts),
})

const contractsByContext = new WeakMap<NodeContext, Contracts>()

/** The contracts of the settings, opened once for a context. @throws SettingsError */
export function contractsOf(context: NodeContext): Contracts {
  const contracts = contractsByContext.get(context) ?? openContractsOf(context)
  contractsByContext.set(context, contracts)
  return contracts
}

function openContractsOf(context: NodeContext): Contracts {
  const { settings, network, keys, log } = context
  log.info('Start: applying the settings to the contracts')
  const administrator = keys.administrator?.credential
  if (administrator === undefined) throw new TypeError(`${settings.NODE_ROLE} does not reach layer 1`)
  const maturityWindow = BigInt(settings.MATURITY_WINDOW_MS)
  const turnLength = BigInt(settings.OPERATOR_TURN_MS)
  return openContracts(
    {
      protocol: settings.PROTOCOL,
      administrator,
      deploymentOutput: deploymentOutputOf(settings),
      // Not every fraud has a proof, so the administrator, if there is one, decides who may be an operator.
      permissioned: !isRenounced(administrator),
      verdictPolicies: verdictPoliciesOf(context),
      ...summonsOf(context),
      ...bridgeTermsOf(context),
      maturityWindow,
      turnLength,
      ...takeOverOf(context),
      bond: BigInt(settings.OPERATOR_BOND),
      slashPenalty: BigInt(settings.SLASH_PENALTY),
      // The minimum that the contracts accept: blocks of a retired operator can be challenged until then.
      releaseDelay: maturityWindow + turnLength,
      maxOperators,
    },
    network.id,
  )
}

/** The bridge, if the settings have one. */
function bridgeTermsOf({ settings, network }: NodeContext): Pick<ContractParameters, 'bridge'> {
  if (!(settings.BRIDGE ?? network.isDevnet)) return {}
  const policies = settings.BRIDGED_POLICIES ?? []
  const bridged = policies.map((policy) => policy.toLowerCase()).sort()
  const eventWait = BigInt(eventWaitOf(settings))
  return { bridge: { eventWait, bridged: bridged.map(fromHex), reserveMin, payoutFee } }
}

/** TAKEOVER_AFTER_MS, if it is set. A devnet's default is short, because its users do not wait. */
function takeOverOf({ settings, network }: NodeContext): Pick<ContractParameters, 'takeOverAfter'> {
  const { TAKEOVER_AFTER_MS: given } = settings
  if (given !== undefined) return { takeOverAfter: BigInt(given) }
  return network.isDevnet ? { takeOverAfter: devnetTakeOverAfter } : {}
}

/** The summons, if the deployment has one. */
function summonsOf({ settings }: NodeContext): Pick<ContractParameters, 'summons'> {
  if (!verdictsOf(settings).includes('summons')) return {}
  return { summons: summonsTerms(BigInt(settings.MATURITY_WINDOW_MS)) }
}

/** The policies of claims: those of VERDICT_POLICIES, or by default those that take layer 2's rules. */
function verdictPoliciesOf({ settings, network, parameters }: NodeContext): readonly PlutusScript[] {
  const rules = { parameters, networkId: network.id, slots: network.slots }
  const names = verdictsOf(settings)
  const isDefault = settings.VERDICT_POLICIES === undefined
  const wanted = Object.entries(verdictPolicies).filter(
    ([name, { covers }]) => names.includes(name) && (!isDefault || covers(rules)),
  )
  return wanted.map(([name, { covers, script }]) => {
    if (covers(rules)) return script(rules)
    const { major } = parameters.ledgerVersion
    throw new SettingsError([
      `VERDICT_POLICIES names ${name}, but layer 2 has ledger version ${major}, whose rules this ` +
        'policy does not know.',
    ])
  })
}

/** How calls of a layer 1 ended, since the start. */
interface Layer1Calls {
  readonly method: string
  readonly outcome: string
  readonly count: number
}

const methods = [
  ...([
    'utxosAt',
    'utxosAsOf',
    'utxosByUnit',
    'utxosByPolicy',
    'utxosByReferences',
    'spending',
    'parameters',
    'tip',
    'slots',
  ] as const),
  ...(['currentSlot', 'submit', 'status', 'await', 'evaluate'] as const),
]

const codes: readonly Layer1ErrorCode[] = [
  ...(['LAYER1_TIMEOUT', 'LAYER1_RATE_LIMITED', 'LAYER1_UNREACHABLE', 'LAYER1_PROVIDER_ERROR'] as const),
  ...(['LAYER1_INVALID_ANSWER', 'LAYER1_UNAUTHORIZED', 'LAYER1_WRONG_NETWORK'] as const),
  ...(['LAYER1_REJECTED', 'LAYER1_ROLLED_BACK'] as const),
]
/** `aborted`: the caller ended the call, or a defect did. */
const outcomes = ['ok', ...codes.map(outcomeOf), 'aborted']

/** The same layer 1, with a count of how its calls end. */
function countCalls(layer1: Layer1): { layer1: Layer1; calls: () => readonly Layer1Calls[] } {
  const counts = new Map<string, Map<string, number>>()
  const counted = methods.map((method) => {
    const of = new Map(outcomes.map((outcome) => [outcome, 0]))
    counts.set(method, of)
    const count = (outcome: string) => of.set(outcome, (of.get(outcome) ?? 0) + 1)
    const call = layer1[method].bind(layer1) as (...given: unknown[]) => Promise<unknown>
    const counting = async (...given: unknown[]) => {
      try {
        const answer = await call(...given)
        count('ok')
        return answer
      } catch (error) {
        const code = codes.find((each) => error instanceof Error && 'code' in error && error.code === each)
        count(code === undefined ? 'aborted' : outcomeOf(code))
        throw error
      }
    }
    return [method, counting]
  })
  return {
    layer1: { name: layer1.name, networkId: layer1.networkId, ...Object.fromEntries(counted) },
    calls: () =>
      [...counts].flatMap(([method, of]) => [...of].map(([outcome, count]) => ({ method, outcome, count }))),
  }
}

function outcomeOf(code: Layer1ErrorCode): string {
  return code.slice('LAYER1_'.length).toLowerCase()
}
