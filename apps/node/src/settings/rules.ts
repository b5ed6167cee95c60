import { BlockList, isIP } from 'node:net'
import { decodeBech32Address } from '@ratatosk/ledger'
import { largestBond, leastPenalty } from '@ratatosk/protocol'
import { duties, hasFaucet, watches } from '../roles.js'
import { eventMarginMs, verdictsOf } from './derived.js'
import { claimPolicies } from './rollup-settings.js'
import type { Role, Settings } from './schema.js'
import { trustedProxies } from './trusted-proxies.js'

/** Rules that involve several settings: one message for each rule that is broken. */
export function brokenRules(settings: Settings): string[] {
  return [
    ...ruleOfStorage(settings),
    ...ruleOfReplica(settings),
    ...rulesOfMainnet(settings),
    ...rulesOfArchivist(settings),
    ...rulesOfPeers(settings),
    ...rulesOfProvider(settings),
    ...rulesOfKeys(settings),
    ...ruleOfAddress(settings),
    ...rulesOfReader(settings),
    ...rulesOfAdministrator(settings),
    ...ruleOfOperatorAccess(settings),
    ...rulesOfPublicHosts(settings),
    ...ruleOfProxies(settings),
    ...rulesOfOrigins(settings),
    ...rulesOfContracts(settings),
    ...ruleOfDeployment(settings),
    ...rulesOfBridge(settings),
  ]
}

function ruleOfReplica({ NODE_ROLE, DATABASE_READ_URL }: Settings): string[] {
  if (DATABASE_READ_URL === undefined || NODE_ROLE === 'reader') return []
  return [
    `DATABASE_READ_URL is set but NODE_ROLE is "${NODE_ROLE}": only the role "reader" reads from a replica.`,
  ]
}

function ruleOfStorage({ NODE_ROLE, DATABASE_URL }: Settings): string[] {
  if (duties[NODE_ROLE].embeds || DATABASE_URL !== undefined) return []
  return [
    `NODE_ROLE is "${NODE_ROLE}" but DATABASE_URL is not set: only the roles "all", "archivist" ` +
      'and "watcher" can use the embedded store, which belongs to one process.',
  ]
}

function rulesOfMainnet(settings: Settings): string[] {
  if (settings.NETWORK !== 'mainnet') return []
  const problems: string[] = []
  if (settings.GENESIS_FILE !== undefined) {
    problems.push('GENESIS_FILE is set but NETWORK is "mainnet": a mainnet ledger starts empty.')
  }
  if (settings.FAUCET_TOKEN !== undefined && settings.FAUCET_ENABLED) {
    problems.push('FAUCET_TOKEN is set but NETWORK is "mainnet": the faucet runs on test networks only.')
  }
  if (settings.ARCHIVIST_PEERS !== undefined && duties[settings.NODE_ROLE].bodies !== 'archive') {
    problems.push(
      'ARCHIVIST_PEERS is set but NETWORK is "mainnet": sequencers adopt the blocks of other operators ' +
        'on test networks only.',
    )
  }
  return problems
}

function rulesOfArchivist({ NODE_ROLE, ARCHIVIST_PEERS, LAYER1_PROVIDER }: Settings): string[] {
  if (duties[NODE_ROLE].bodies !== 'archive') return []
  const problems: string[] = []
  if (ARCHIVIST_PEERS === undefined) {
    problems.push(
      `NODE_ROLE is "${NODE_ROLE}" but ARCHIVIST_PEERS is not set: it names the peers that serve block ` +
        'bodies, such as http://127.0.0.1:3000/archivist.',
    )
  }
  if (LAYER1_PROVIDER === 'devnet') {
    problems.push(
      `NODE_ROLE is "${NODE_ROLE}" and LAYER1_PROVIDER is "devnet": this role has its own store, so it ` +
        'cannot find a shared devnet. Start the node with DEVNET_PORT=1337, and this one with ' +
        'LAYER1_PROVIDER=blockfrost and BLOCKFROST_URL=http://127.0.0.1:1337/blockfrost/api/v0.',
    )
  }
  return problems
}

function rulesOfPeers(settings: Settings): string[] {
  const names = ['ARCHIVIST_PEERS', 'OPERATOR_PEERS'] as const
  return names
    .filter((name) => settings[name]?.some(hasCredentials))
    .map((name) => `${name} has a URL with a user: the URLs of peers are logged, and need no credentials.`)
}

function hasCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username !== '' || password !== ''
}

function rulesOfProvider(settings: Settings): string[] {
  const { LAYER1_PROVIDER, NETWORK, NODE_ROLE } = settings
  if (!duties[NODE_ROLE].reachesLayer1) return []
  if (NETWORK !== 'devnet' && LAYER1_PROVIDER === 'devnet') {
    return [
      `NETWORK is "${NETWORK}" but LAYER1_PROVIDER is "devnet", the default: set LAYER1_PROVIDER to ` +
        'blockfrost or kupmios, or NETWORK to devnet.',
    ]
  }
  const needed = { devnet: [], blockfrost: ['BLOCKFROST_URL'], kupmios: ['KUPO_URL', 'OGMIOS_URL'] } as const
  return needed[LAYER1_PROVIDER]
    .filter((name) => settings[name] === undefined)
    .map((name) => `LAYER1_PROVIDER is "${LAYER1_PROVIDER}" but ${name} is not set.`)
}

function ruleOfDeployment(settings: Settings): string[] {
  const { NETWORK, NODE_ROLE, DEPLOYMENT_OUTPUT } = settings
  if (!duties[NODE_ROLE].reachesLayer1 || settings.NETWORK === 'devnet') return []
  if (DEPLOYMENT_OUTPUT !== undefined) return []
  return [
    `NODE_ROLE is "${NODE_ROLE}" on ${NETWORK} but DEPLOYMENT_OUTPUT is not set: name an unspent ` +
      `output of the ${settings.ADMIN_RENOUNCED ? 'operator' : 'administrator'} for a new deployment, ` +
      'or the output that an existing deployment names.',
  ]
}

/** The keys of the devnet's test wallets are public, so they are defaults on a devnet only. */
function rulesOfKeys(settings: Settings): string[] {
  const { NETWORK, NODE_ROLE } = settings
  if (settings.NETWORK === 'devnet') return []
  const problems: string[] = []
  const needs = (...all: readonly (keyof Settings)[]) => {
    const names = all.filter((name) => NODE_ROLE !== 'reader' || !(name in holders))
    if (names.some((name) => settings[name] !== undefined)) return
    const subject = names.length === 1 ? `${names[0]} is not set` : `neither ${names.join(' nor ')} is set`
    problems.push(
      `NODE_ROLE is "${NODE_ROLE}" on ${NETWORK} but ${subject}: the default keys are public and ` +
        'only work on a devnet.',
    )
  }
  if (duties[NODE_ROLE].sequences) {
    needs('OPERATOR_SEED_PHRASE')
  }
  if (hasFaucet(settings)) needs('FAUCET_SEED_PHRASE')
  if (watches(settings)) needs('WATCHER_SEED_PHRASE')
  if (NODE_ROLE === 'api' || NODE_ROLE === 'reader') needs('OPERATOR_ADDRESS', 'OPERATOR_SEED_PHRASE')
  if (duties[NODE_ROLE].reachesLayer1 && !settings.ADMIN_RENOUNCED)
    needs('ADMIN_KEY_HASH', 'ADMIN_SCRIPT', 'ADMIN_SEED_PHRASE')
  return problems
}

function ruleOfAddress({ NODE_ROLE, NETWORK, OPERATOR_ADDRESS, OPERATOR_SEED_PHRASE }: Settings): string[] {
  const isUsed = duties[NODE_ROLE].serves.length > 0 && OPERATOR_SEED_PHRASE === undefined
  if (!isUsed || OPERATOR_ADDRESS === undefined) return []
  if (networkIdOf(OPERATOR_ADDRESS) === (NETWORK === 'mainnet' ? 1 : 0)) return []
  return [`OPERATOR_ADDRESS is "${OPERATOR_ADDRESS}": it must be a bech32 address of layer 1's network.`]
}

function networkIdOf(address: string): number | undefined {
  try {
    return decodeBech32Address(address).networkId
  } catch {
    return undefined
  }
}

/** The secrets that a reader must not hold, with the roles that use them beside "all". */
const holders = {
  OPERATOR_SEED_PHRASE: ['sequencer'],
  ADMIN_SEED_PHRASE: ['sequencer'],
  FAUCET_SEED_PHRASE: ['api'],
  FAUCET_TOKEN: ['api'],
  WATCHER_SEED_PHRASE: ['sequencer', 'archivist', 'watcher'],
  OPERATOR_TOKEN: ['api', 'sequencer', 'archivist', 'watcher'],
} as const satisfies Partial<Record<keyof Settings, readonly Role[]>>

/** @example orOf(['api', 'watcher']) // '"api" or "watcher"' */
function orOf(roles: readonly Role[]): string {
  const quoted = roles.map((role) => `"${role}"`)
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter((part) => part !== '').join(' or ')
}

/** Strangers reach a reader, so it holds nothing that they could steal. */
function rulesOfReader(settings: Settings): string[] {
  if (settings.NODE_ROLE !== 'reader') return []
  return Object.entries(holders)
    .filter(([name]) => settings[name as keyof typeof holders] !== undefined)
    .map(
      ([name, roles]) =>
        `${name} is set but NODE_ROLE is "reader", which needs no key and serves no operator endpoint: ` +
        `unset it here, and set it for the role ${orOf(roles)} (or "all") only.` +
        (name === 'OPERATOR_TOKEN' ? ' For /metrics, set METRICS_TOKEN.' : ''),
    )
}

function rulesOfAdministrator(settings: Settings): string[] {
  const { ADMIN_KEY_HASH, ADMIN_SCRIPT, ADMIN_RENOUNCED, NODE_ROLE } = settings
  const policies = verdictsOf(settings)
  const problems: string[] = []
  if (ADMIN_KEY_HASH !== undefined && ADMIN_SCRIPT !== undefined)
    problems.push('ADMIN_KEY_HASH and ADMIN_SCRIPT are both set: the administrator is a key or a script.')
  if ([ADMIN_KEY_HASH, ADMIN_SCRIPT].some((hash) => hash !== undefined && /^0{56}$/.test(hash)))
    problems.push(
      'The hash of the administrator is zero, which belongs to no key: set ADMIN_RENOUNCED=true for a ' +
        'deployment without an administrator.',
    )
  if (!ADMIN_RENOUNCED) return problems
  for (const name of ['ADMIN_KEY_HASH', 'ADMIN_SCRIPT', 'ADMIN_SEED_PHRASE'] as const) {
    if (settings[name] !== undefined)
      problems.push(
        `ADMIN_RENOUNCED is true but ${name} is set: the deployment has an administrator or none.`,
      )
  }
  if (!duties[NODE_ROLE].reachesLayer1) return problems
  if (settings.NETWORK === 'mainnet')
    problems.push(
      'ADMIN_RENOUNCED is true but NETWORK is "mainnet": some frauds have no proof yet, and no one else ' +
        'could remove such a block. Use a test network, or set an administrator.',
    )
  const missing = claimPolicies.filter((name) => !policies.includes(name))
  if (missing.length > 0)
    problems.push(
      `ADMIN_RENOUNCED is true but VERDICT_POLICIES lacks ${missing.join(' and ')}: no one could remove ` +
        `a block with such a fraud. Set VERDICT_POLICIES=${claimPolicies.join(',')}.`,
    )
  return problems
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  const version = isIP(host)
  return version !== 0 && loopback.check(host, version === 6 ? 'ipv6' : 'ipv4')
}

/** Operator endpoints that others can reach, or that spend real money, need a token. */
function ruleOfOperatorAccess(settings: Settings): string[] {
  const { NODE_ROLE, NETWORK, HOST, OPERATOR_TOKEN, OPERATOR_OPEN, SERVE_METRICS, METRICS_TOKEN } = settings
  // `POST /summon` spends the ada of the watcher.
  const summons = watches(settings) && verdictsOf(settings).includes('summons')
  const isOperated = duties[NODE_ROLE].serves.includes('commit') || summons
  const isMeasured = SERVE_METRICS && METRICS_TOKEN === undefined
  if (!(isOperated || isMeasured) || OPERATOR_TOKEN !== undefined || OPERATOR_OPEN) return []
  const reason = !isLoopback(HOST)
    ? `HOST is "${HOST}"`
    : NETWORK === 'devnet'
      ? undefined
      : `NETWORK is "${NETWORK}"`
  if (reason === undefined) return []
  if (!isOperated)
    return [
      `${reason} but METRICS_TOKEN is not set: anyone who reaches the node could read /metrics. Set ` +
        'METRICS_TOKEN, or OPERATOR_OPEN=true if a proxy guards it.',
    ]
  return [
    `${reason} but OPERATOR_TOKEN is not set: anyone who reaches the node could use the operator ` +
      'endpoints. Set OPERATOR_TOKEN, or OPERATOR_OPEN=true if a proxy guards them.',
  ]
}

/** The guard of operator endpoints compares host names only, whatever the port. */
function rulesOfPublicHosts({ PUBLIC_HOSTS = [] }: Settings): string[] {
  return PUBLIC_HOSTS.filter((host) => !isHostName(host)).map(
    (host) => `PUBLIC_HOSTS names "${host}": it must be a host name or an IP address without port.`,
  )
}

function isHostName(host: string): boolean {
  return isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0 || /^[\w.-]+$/.test(host)
}

function rulesOfOrigins(settings: Settings): string[] {
  const { NETWORK, CORS_ORIGIN = [] } = settings
  const problems = CORS_ORIGIN.filter((origin) => origin !== '*' && !isOrigin(origin)).map(
    (origin) => `CORS_ORIGIN names "${origin}": browsers send origins in lower case, without a default port.`,
  )
  if (!CORS_ORIGIN.includes('*')) return problems
  if (CORS_ORIGIN.length > 1) problems.push('CORS_ORIGIN names * and others: * alone allows them all.')
  if (settings.NETWORK !== 'devnet') {
    problems.push(`CORS_ORIGIN is * but NETWORK is "${NETWORK}": name the origins, except on the devnet.`)
  }
  return problems
}

/** Whether a browser would send this text as an origin (RFC 6454, section 6.2). */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, host, origin } = new URL(text)
  // URL knows no origins of other schemes, such as that of an extension.
  return (origin === 'null' ? `${protocol}//${host}` : origin) === text
}

const minimumWindowMs = 3_600_000
const minimumBond = 100_000_000
const minimumSummonsWindowMs = 24 * minimumWindowMs

/** Off the devnet, the window leaves time for every honest answer, and an outage is no bargain. */
function rulesOfSummons(settings: Settings): string[] {
  const { NETWORK, MATURITY_WINDOW_MS, OPERATOR_BOND, SLASH_PENALTY } = settings
  if (NETWORK === 'mainnet')
    return [
      'VERDICT_POLICIES names summons but NETWORK is "mainnet": an operator who cannot reach layer 1 for a ' +
        'fourteenth of the window would lose the bond. Use it on test networks.',
    ]
  const problems: string[] = []
  const without = `To do without it, set VERDICT_POLICIES=${claimPolicies.join(',')}.`
  if (MATURITY_WINDOW_MS < minimumSummonsWindowMs) {
    problems.push(
      `MATURITY_WINDOW_MS is ${MATURITY_WINDOW_MS} but VERDICT_POLICIES has summons: it must be at least ` +
        `${minimumSummonsWindowMs} (1 day). ${without}`,
    )
  }
  const bond = BigInt(OPERATOR_BOND)
  const penalty = leastPenalty(bond)
  const reason =
    'or a griefer who takes the bond in an outage pays less than half of what the operator loses.'
  if (bond > largestBond) {
    problems.push(
      `OPERATOR_BOND is ${OPERATOR_BOND} but VERDICT_POLICIES has summons: it must be at most ` +
        `${largestBond}, ${reason} ${without}`,
    )
  } else if (BigInt(SLASH_PENALTY) < penalty) {
    problems.push(
      `SLASH_PENALTY is ${SLASH_PENALTY} but VERDICT_POLICIES has summons: with this OPERATOR_BOND it must ` +
        `be at least ${penalty}, ${reason} ${without}`,
    )
  }
  return problems
}

/** Off the devnet, challenges need time and a stake, and a summons could cost an honest bond. */
function rulesOfContracts(settings: Settings): string[] {
  const { NODE_ROLE, NETWORK, MATURITY_WINDOW_MS, OPERATOR_BOND, SLASH_PENALTY, VERDICT_POLICIES } = settings
  if (!duties[NODE_ROLE].reachesLayer1) return []
  const problems: string[] = []
  if (VERDICT_POLICIES?.includes('none') && VERDICT_POLICIES.length > 1) {
    problems.push('VERDICT_POLICIES names none and others: none stands alone.')
  }
  if (SLASH_PENALTY > OPERATOR_BOND) {
    problems.push(
      `SLASH_PENALTY is ${SLASH_PENALTY} but OPERATOR_BOND is ${OPERATOR_BOND}: it must be at most the bond.`,
    )
  }
  if (settings.NETWORK === 'devnet') return problems
  if (verdictsOf(settings).includes('summons')) problems.push(...rulesOfSummons(settings))
  if (MATURITY_WINDOW_MS < minimumWindowMs) {
    problems.push(
      `MATURITY_WINDOW_MS is ${MATURITY_WINDOW_MS} but NETWORK is "${NETWORK}": it must be at least ` +
        `${minimumWindowMs} (1 hour) off the devnet.`,
    )
  }
  if (OPERATOR_BOND < minimumBond) {
    problems.push(
      `OPERATOR_BOND is ${OPERATOR_BOND} but NETWORK is "${NETWORK}": it must be at least ` +
        `${minimumBond} (100 ada) off the devnet.`,
    )
  }
  const minimumPenalty = Math.ceil(OPERATOR_BOND / 10)
  if (SLASH_PENALTY < minimumPenalty) {
    problems.push(
      `SLASH_PENALTY is ${SLASH_PENALTY} but NETWORK is "${NETWORK}": it must be at least ` +
        `${minimumPenalty} (a tenth of OPERATOR_BOND) off the devnet.`,
    )
  }
  return problems
}

const mostBridgedPolicies = 8
function rulesOfBridge({
  BRIDGE,
  NETWORK,
  EVENT_WAIT_MS,
  BLOCK_VALIDITY_MS,
  BRIDGED_POLICIES = [],
}: Settings): string[] {
  const problems: string[] = []
  if (BRIDGE === true && NETWORK !== 'devnet')
    problems.push(
      `BRIDGE is set but NETWORK is "${NETWORK}": a bridge is for the devnet only, because nothing on ` +
        'layer 1 proves lies about deposits and withdrawals yet.',
    )
  if (BRIDGE === false || NETWORK !== 'devnet') return problems
  const least = BLOCK_VALIDITY_MS + eventMarginMs
  if (EVENT_WAIT_MS !== undefined && EVENT_WAIT_MS < least)
    problems.push(
      `EVENT_WAIT_MS is ${EVENT_WAIT_MS} but BLOCK_VALIDITY_MS is ${BLOCK_VALIDITY_MS}: it must be at ` +
        `least ${least}, so that a block knows the deposits of its time. Without a ` +
        'bridge (BRIDGE=false) it does not matter.',
    )
  const distinct = new Set(BRIDGED_POLICIES.map((policy) => policy.toLowerCase()))
  if (distinct.size < BRIDGED_POLICIES.length) problems.push('BRIDGED_POLICIES names a policy twice.')
  if (distinct.size > mostBridgedPolicies)
    problems.push(
      `BRIDGED_POLICIES names ${distinct.size} policies: at most ${mostBridgedPolicies} may be bridged.`,
    )
  return problems
}

/** Of TRUST_PROXY, each part must be an address or a network. */
function ruleOfProxies({ TRUST_PROXY }: Pick<Settings, 'TRUST_PROXY'>): string[] {
  try {
    trustedProxies(TRUST_PROXY)
    return []
  } catch (error) {
    const part = error instanceof TypeError ? error.message : TRUST_PROXY
    return [`TRUST_PROXY names "${part}": it must be an IP address, or a network such as 10.0.0.0/8.`]
  }
}
