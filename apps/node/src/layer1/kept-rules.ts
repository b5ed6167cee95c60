import { toHex } from '@ratatosk/cbor'
import { blake2b256, outputReferenceKey, type ProtocolParameters } from '@ratatosk/ledger'
import type { Contracts } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'
import type { NodeContext } from '../context.js'
import { StartError } from '../errors.js'
import { verdictsOf } from '../settings/verdicts.js'
import { beginAnew } from '../storage/open-storage.js'
import { bridgedBy, contractsOf } from './settlement.js'

/** Settings that are parameters of the contracts; stores of earlier commits do not have them. */
const ofContracts = [
  ...(['PROTOCOL', 'ADMIN_KEY_HASH', 'DEPLOYMENT_OUTPUT', 'MATURITY_WINDOW_MS', 'OPERATOR_TURN_MS'] as const),
  ...(['TAKEOVER_AFTER_MS', 'OPERATOR_BOND', 'SLASH_PENALTY', 'VERDICT_POLICIES', 'EVENT_WAIT_MS'] as const),
]

/** The values that the rules of layer 2 depend on, each by the setting that decides it. */
type KeptRules = Readonly<Record<(typeof compared)[number], string>>

const compared = [
  ...(['NETWORK', 'PROTOCOL_PARAMETERS_FILE', 'BRIDGE', 'BRIDGED_POLICIES'] as const),
  ...ofContracts,
  'contracts' as const,
]

/**
 * Refuses a process that would judge or read by other rules than those on the same store: what one accepts,
 * another would commit to an invalid block. The first process states the rules.
 *
 * @throws StartError `NODE_DATABASE`, which names the setting
 */
export async function keepRules(context: NodeContext, store: Pick<Store, 'ledgerRules'>): Promise<void> {
  checkRules(context, await store.ledgerRules(JSON.stringify(rulesOf(context))))
}

/**
 * Refuses other rules than those that a store keeps.
 * @param hasBlocks without one, nothing on layer 1 shows that the kept rules are right
 * @throws StartError as `keepRules`
 */
export function checkRules(context: NodeContext, stated: string, hasBlocks = true): void {
  const own = rulesOf(context)
  const kept = readRules(stated)
  const mayLack: readonly string[] = ofContracts
  const other = compared.find(
    (setting) =>
      kept[setting] !== own[setting] && !(kept[setting] === undefined && mayLack.includes(setting)),
  )
  if (other === undefined) return
  const first = hasBlocks
    ? ''
    : 'They are those of its first start, which may have been wrong: it has no block yet. '
  const remedy = hasBlocks
    ? `Start with the settings of the others, or ${beginAnew}`
    : `If the settings here are right, ${beginAnew} Otherwise start with those of the first start.`
  throw new StartError(
    'NODE_DATABASE',
    `${faultOf(other, kept, own)} Every process on this store must judge by the same rules. ` +
      `${first}${remedy}`,
  )
}

function rulesOf(context: NodeContext): KeptRules {
  const { network, parameters, keys } = context
  // Without these keys, the network has no bridge: see `readKeys`.
  const contracts: Contracts | undefined = keys.administrator && contractsOf(context)
  const bridge = contracts?.bridge
  return {
    NETWORK: network.name,
    PROTOCOL_PARAMETERS_FILE: digestOf(parameters),
    BRIDGE: String(bridge !== undefined),
    BRIDGED_POLICIES: contracts === undefined ? '' : [...bridgedBy(contracts)].sort().join(),
    ...parametersOf(context, bridge && contracts),
    contracts: bridge === undefined ? '' : toHex(bridge.place.script.hash),
  }
}

/** Without a bridge, the rules of layer 2 do not depend on the contracts. */
function parametersOf({ settings }: NodeContext, contracts: Contracts | undefined) {
  const parameters = contracts?.parameters
  const values: Readonly<Record<(typeof ofContracts)[number], unknown>> = {
    PROTOCOL: parameters?.protocol,
    ADMIN_KEY_HASH: parameters && toHex(parameters.administrator.hash),
    DEPLOYMENT_OUTPUT: parameters && outputReferenceKey(parameters.deploymentOutput),
    MATURITY_WINDOW_MS: parameters?.maturityWindow,
    OPERATOR_TURN_MS: parameters?.turnLength,
    TAKEOVER_AFTER_MS: parameters?.takeOverAfter,
    OPERATOR_BOND: parameters?.bond,
    SLASH_PENALTY: parameters?.slashPenalty,
    VERDICT_POLICIES: parameters && verdictsOf(settings).join(),
    EVENT_WAIT_MS: parameters?.bridge?.eventWait,
  }
  return Object.fromEntries(
    Object.entries(values).map(([setting, value]) => [setting, String(value ?? '')]),
  ) as Readonly<Record<(typeof ofContracts)[number], string>>
}

function faultOf(setting: keyof KeptRules, kept: Partial<KeptRules>, own: KeptRules): string {
  const [was, is] = [kept[setting] ?? 'not known', own[setting]].map((text) => text || 'empty')
  if (setting === 'PROTOCOL_PARAMETERS_FILE')
    return (
      'The protocol parameters of layer 2 are not those of the deployment in this database: ' +
      'PROTOCOL_PARAMETERS_FILE has changed, or this version has others.'
    )
  if (setting === 'contracts')
    return (
      `The deployment in this database has the bridge ${was}, and these settings have the bridge ${is}. A ` +
      'setting that is a parameter of the contracts has changed, or this version has other contracts.'
    )
  return `The deployment in this database has ${setting} ${was}, and here ${setting} is ${is}.`
}

function digestOf(parameters: ProtocolParameters): string {
  const text = JSON.stringify(parameters, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Map ? [...value] : value
  })
  return toHex(blake2b256(new TextEncoder().encode(text)))
}

function readRules(text: string): Partial<KeptRules> {
  try {
    return JSON.parse(text) as Partial<KeptRules>
  } catch {
    return {}
  }
}
