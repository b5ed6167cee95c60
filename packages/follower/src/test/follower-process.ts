import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { decodeHeader } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { decodeOutputReference } from '@ratatosk/ledger'
import { openStore } from '@ratatosk/store'
import { freeOfCharge, slots } from '@ratatosk/test-kit'
import { createFollower } from '../index.js'
import { LogLines } from './log-lines.js'

/** The task of the process; bytes in hex. */
export interface FollowerTask {
  readonly dir: string
  readonly peer: string
  readonly confirmed: string
  readonly headers: readonly string[]
  readonly genesis: readonly { readonly outref: string; readonly output: string }[]
}

// Runs a follower in a separate process, which a test kills.
const task: FollowerTask = JSON.parse(process.argv[2] ?? '')
const pglite = await PGlite.create(join(task.dir, 'store'))
const store = await openStore({ pglite })
const log = new LogLines()
const follower = await createFollower({
  chain: {
    read: async () => ({
      confirmed: { headerHash: fromHex(task.confirmed) },
      blocks: task.headers.map((header) => decodeHeader(fromHex(header))),
    }),
  },
  peers: [task.peer],
  archive: store.archive,
  genesis: task.genesis.map(({ outref, output }) => ({
    reference: decodeOutputReference(fromHex(outref)),
    output: fromHex(output),
  })),
  rules: { parameters: freeOfCharge, networkId: 0, slots },
  trieDir: join(task.dir, 'trie'),
  log,
})
await follower.synced()
await follower.close()
await store.close()
await pglite.close()
process.send?.(log.lines.map(({ message }) => message))
