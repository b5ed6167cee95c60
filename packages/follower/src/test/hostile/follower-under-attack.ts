import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { decodeHeader, genesisHeaderHash } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { decodeOutputReference } from '@ratatosk/ledger'
import { accuse } from '@ratatosk/protocol/fraud'
import { openStore } from '@ratatosk/store'
import { freeOfCharge, slots } from '@ratatosk/test-kit'
import { pausing } from '../../../../protocol/dist/fraud/accused-block.js'
import { fraudsIn } from '../../../../protocol/dist/fraud/find-fraud.js'
import { createFollower, type InvalidBlock, openEvidence } from '../../index.js'
import { type Figures, measure } from './figures.js'

/** The task of the process; bytes in hex. */
export interface AttackedTask {
  readonly dir: string
  readonly peer: string
  /** Whether it searches a fraud in each invalid block, as it does for a watcher. */
  readonly searches: boolean
  readonly genesis: readonly { readonly outref: string; readonly output: string }[]
}

/** The report of the process: the status of a block, or its figures alone. */
export interface Said extends Figures {
  readonly ended?: string
}

// A follower, with its archive, evidence and state, whose one peer is hostile. The layer 1 that it reads is
// what the parent process says.
const task: AttackedTask = JSON.parse(process.argv[2] ?? '')
let headers: readonly string[] = []

const figures = measure()

function say(ended?: string): void {
  process.send?.({ ...(ended && { ended }), ...figures(ended === undefined) } satisfies Said)
}

/** Searches a fraud as a watcher does. */
async function watch({
  header,
  transactions,
  before,
  outputBefore,
  ...rest
}: InvalidBlock): Promise<undefined> {
  try {
    const { afterTransactions: after } = rest
    const isAfter = after !== undefined && Buffer.compare(after.root, header.utxosRoot) === 0
    const block = { header, transactions, before, outputBefore, ...(isAfter && { after }) }
    const accused = await accuse(block)
    let found = 'no fraud'
    for await (const [fraud] of pausing(fraudsIn(accused, rules))) {
      if (fraud === undefined) continue
      found = fraud.policy
      break
    }
    say(`watched: ${found}`)
  } catch (error) {
    say(`watched: ${error}`)
  }
}

const rules = { parameters: freeOfCharge, networkId: 0, slots }
const pglite = await PGlite.create()
const store = await openStore({ pglite })
const log = {
  info: (_: object | string, message?: string) => message === 'Archived blocks' && say('archived'),
  warn: (fields: { reason?: string } | string, message?: string) =>
    message === 'Peer backed off' && say(`backed off: ${(fields as { reason?: string }).reason}`),
  error: (fields: { reason?: string } | string, message?: string) =>
    message === 'Invalid block'
      ? !task.searches && say(`invalid: ${(fields as { reason?: string }).reason}`)
      : say(`error: ${message} ${JSON.stringify(fields)}`),
}
const follower = await createFollower({
  chain: {
    read: async () => ({
      confirmed: { headerHash: genesisHeaderHash() },
      blocks: headers.map((header) => decodeHeader(fromHex(header))),
    }),
  },
  peers: [task.peer],
  archive: store.archive,
  genesis: task.genesis.map(({ outref, output }) => ({
    reference: decodeOutputReference(fromHex(outref)),
    output: fromHex(output),
  })),
  rules,
  trieDir: join(task.dir, 'trie'),
  evidence: openEvidence({ dir: join(task.dir, 'evidence'), maxBytes: 200_000_000 }),
  pollMs: 20,
  backoffMs: 1,
  log,
  ...(task.searches && { watch }),
})
process.on('message', (given: { readonly headers?: readonly string[] } | 'figures' | 'end') => {
  if (given === 'figures') say()
  else if (given === 'end') void follower.close().then(() => process.exit(0))
  else headers = given.headers ?? []
})
say('ready')
