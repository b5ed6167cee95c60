import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toHex } from '@ratatosk/cbor'
import { keyOf, outputOf, transfer } from '@ratatosk/fixtures'
import { blake2b256 } from '@ratatosk/ledger'
import type { Test } from 'tap'
import { temporaryDirectory } from './backends.js'

const lovelace = 10_000_000n
const fee = 200_000n

export interface ManyTransfers {
  /** For GENESIS_FILE: one output per transfer. */
  readonly genesisFile: string
  /** Each spends another genesis output. */
  readonly transfers: readonly { readonly hash: string; readonly cborHex: string }[]
}

/** Many independent valid transfers; faster to make than with an SDK. */
export async function manyTransfers(
  t: Test,
  count: number,
  others: readonly { readonly outref: string; readonly output: string }[] = [],
): Promise<ManyTransfers> {
  const key = keyOf(7)
  const utxos = [...others]
  const transfers = Array.from({ length: count }, (_, n) => {
    const transactionId = blake2b256(Buffer.from(`transfer ${n}`))
    utxos.push({ outref: `${toHex(transactionId)}#0`, output: toHex(outputOf(key, lovelace)) })
    const { id, cbor } = transfer(key, [{ transactionId, index: 0 }], [lovelace - fee], { fee })
    return { hash: toHex(id), cborHex: toHex(cbor) }
  })
  const genesisFile = join(await temporaryDirectory(t), 'genesis.json')
  await writeFile(genesisFile, JSON.stringify({ utxos }))
  return { genesisFile, transfers }
}
