import { join } from 'node:path'
import type { Client } from '@ratatosk/client'
import { testGenesis } from '@ratatosk/devnet'
import { keysFromSeedPhrase, toOutput } from '@ratatosk/ledger/builder'
import { type RunningNode, readSettings, startNode } from '@ratatosk/node'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { startLayer1 } from '../layer1.js'

/** A node of the network. */
interface Member {
  readonly node: RunningNode
  readonly client: Client
}

/** The nodes of a story about fraud, in this process, on a layer 1 of their own. */
export interface DemoNetwork {
  /** The operator from the beginning. */
  readonly cheat: Member
  /** Becomes the second operator. */
  readonly honest: Member
  readonly watcher: Member
  /** The lovelace of an address on layer 1. */
  lovelaceOn1(address: string): bigint
  /** Stops everything, the nodes first. */
  close(): Promise<void>
}

/** Longer than the story takes: the false block must be removed before it can be merged. */
const maturityWindowMs = 600_000
/** The shortest turns that there are. */
const turnMs = 10_000

/**
 * Starts the network.
 *
 * @param folder of its stores
 * @param connect a client of a URL
 */
export async function startNetwork(
  folder: string,
  connect: (url: string) => Promise<Client>,
): Promise<DemoNetwork> {
  const closing: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end()
  }
  const second = generateMnemonic(wordlist, 256)
  try {
    const layer1 = await startLayer1(genesisWith([second]))
    closing.push(() => layer1.close())
    const { devnet } = layer1

    const start = async (name: string, own: Readonly<Record<string, string>>): Promise<Member> => {
      const settings = {
        DATA_DIR: join(folder, name),
        PORT: '0',
        LOG_LEVEL: 'fatal',
        ...layer1.settings,
        MATURITY_WINDOW_MS: String(maturityWindowMs),
        OPERATOR_TURN_MS: String(turnMs),
        AUTO_INIT: 'false',
        ...own,
      }
      const node = await startNode(readSettings(settings))
      closing.push(() => node.close())
      return { node, client: await connect(node.url) }
    }
    const [cheat, honest] = await Promise.all([
      start('cheat', {}),
      start('honest', { OPERATOR_SEED_PHRASE: second }),
    ])
    const peers = [cheat, honest].map(({ node }) => `${node.url}/archivist`)
    const watcher = await start('watcher', { NODE_ROLE: 'watcher', ARCHIVIST_PEERS: peers.join() })
    return {
      cheat,
      honest,
      watcher,
      lovelaceOn1: (address) =>
        devnet.utxos({ address }).reduce((sum, { output }) => sum + output.value.lovelace, 0n),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The outputs of an operator on layer 1, and the lovelace in each. */
const [outputs, lovelace] = [5, 1_000_000_000n]

/** The devnet's genesis, with ada for operators besides the devnet's own. */
export function genesisWith(seedPhrases: readonly string[]): ReturnType<typeof testGenesis> {
  const genesis = testGenesis()
  const own = seedPhrases.flatMap((phrase, place) => {
    const address = keysFromSeedPhrase(phrase, { networkId: 0 }).address.bytes
    const value = { lovelace, assets: new Map() }
    const output = Buffer.from(toOutput({ address, value, datum: { kind: 'none' } }).bytes).toString('hex')
    return Array.from({ length: outputs }, (_, index) => ({
      outref: `${'22'.repeat(32)}#${place * outputs + index}`,
      output,
    }))
  })
  return { ...genesis, utxos: [...genesis.utxos, ...own] }
}
