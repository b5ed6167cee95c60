import { settlesOnDevnet } from '../layer1/layer1-network.js'
import { duties, hasFaucet } from '../roles.js'
import type { Settings } from './schema.js'

/** What is wrong with settings that are each in order, a sentence each. */
export function contradictions(settings: Settings): string[] {
  const { NODE_ROLE, NETWORK, DATABASE_URL, GENESIS_FILE } = settings
  const problems: string[] = []
  if (!duties[NODE_ROLE].embeds && DATABASE_URL === undefined) {
    problems.push(
      `NODE_ROLE is "${NODE_ROLE}" but DATABASE_URL is not set: the embedded store belongs to one process, so only the roles "all" and "archivist" can do without PostgreSQL.`,
    )
  }
  if (NETWORK === 'mainnet' && GENESIS_FILE !== undefined) {
    problems.push(
      'GENESIS_FILE is set but NETWORK is "mainnet": a ledger of mainnet begins empty, genesis outputs are for test networks.',
    )
  }
  if (NODE_ROLE === 'archivist') problems.push(...missingForArchivist(settings))
  if (NETWORK === 'mainnet' && settings.FAUCET_TOKEN !== undefined && settings.FAUCET_ENABLED) {
    problems.push(
      'FAUCET_TOKEN is set but NETWORK is "mainnet": a faucet gives away money of test networks only.',
    )
  }
  return [...problems, ...missingForProvider(settings), ...missingKeys(settings)]
}

function missingForArchivist({ ARCHIVIST_PEERS, LAYER1_PROVIDER }: Settings): string[] {
  const problems: string[] = []
  if (ARCHIVIST_PEERS === undefined) {
    problems.push(
      'NODE_ROLE is "archivist" but ARCHIVIST_PEERS is not set: it says where the bodies of blocks are to be had, such as http://127.0.0.1:3000/archivist.',
    )
  }
  if (LAYER1_PROVIDER === 'devnet') {
    problems.push(
      'NODE_ROLE is "archivist" and LAYER1_PROVIDER is "devnet": an archivist has a store of its own, so it cannot find a devnet there. Start the node with DEVNET_PORT=1337, and the archivist with LAYER1_PROVIDER=blockfrost and BLOCKFROST_URL=http://127.0.0.1:1337/blockfrost/api/v0.',
    )
  }
  return problems
}

function missingForProvider(settings: Settings): string[] {
  const { LAYER1_PROVIDER, NODE_ROLE } = settings
  if (!duties[NODE_ROLE].reachesLayer1) return []
  const needed = { devnet: [], blockfrost: ['BLOCKFROST_URL'], kupmios: ['KUPO_URL', 'OGMIOS_URL'] } as const
  return needed[LAYER1_PROVIDER]
    .filter((name) => settings[name] === undefined)
    .map(
      (name) => `LAYER1_PROVIDER is "${LAYER1_PROVIDER}" but ${name} is not set: it says where to reach it.`,
    )
}

/** The devnet's wallets are everybody's, so they stand in for one's own only there. */
function missingKeys(settings: Settings): string[] {
  const { NETWORK, NODE_ROLE } = settings
  if (settlesOnDevnet(settings)) return []
  const problems: string[] = []
  const require = (name: keyof Settings, instead?: keyof Settings) => {
    if (settings[name] !== undefined || (instead && settings[instead] !== undefined)) return
    const names = instead === undefined ? name : `neither ${instead} nor ${name}`
    problems.push(
      `NODE_ROLE is "${NODE_ROLE}" on ${NETWORK} but ${instead === undefined ? `${names} is not set` : `${names} is set`}: the devnet's wallets, whose keys everybody knows, serve on the devnet only.`,
    )
  }
  if (duties[NODE_ROLE].sequences) {
    require('OPERATOR_SEED_PHRASE')
    require('ADMIN_SEED_PHRASE')
  }
  if (hasFaucet(settings)) require('FAUCET_SEED_PHRASE')
  if (NODE_ROLE === 'api') require('OPERATOR_SEED_PHRASE', 'OPERATOR_ADDRESS')
  if (NODE_ROLE === 'api' || NODE_ROLE === 'archivist') require('ADMIN_SEED_PHRASE', 'ADMIN_KEY_HASH')
  return problems
}
