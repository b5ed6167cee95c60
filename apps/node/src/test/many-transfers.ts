import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CborWriter, toHex } from '@ratatosk/cbor'
import { blake2b224, blake2b256 } from '@ratatosk/ledger'
import type { Test } from 'tap'
import { temporaryDirectory } from './backends.js'

const lovelace = 10_000_000n
const fee = 200_000n
/** RFC 8410: the DER prefix of the 32 bytes of an Ed25519 key. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface ManyTransfers {
  /** For GENESIS_FILE: one output per transfer. */
  readonly genesisFile: string
  /** Each spends another genesis output. */
  readonly transfers: readonly { readonly hash: string; readonly cborHex: string }[]
}

/**
 * Many valid transfers that are independent of each other; faster to make than with an SDK.
 *
 * @param others further genesis outputs
 */
export async function manyTransfers(
  t: Test,
  count: number,
  others: readonly { readonly outref: string; readonly output: string }[] = [],
): Promise<ManyTransfers> {
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8, Buffer.alloc(32, 7)]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  const address = Uint8Array.of(0x60, ...blake2b224(publicKey))
  const output = (amount: bigint) =>
    new CborWriter().map(2).uint(0).bytes(address).uint(1).uint(amount).toBytes()

  const utxos = [...others]
  const transfers = Array.from({ length: count }, (_, n) => {
    const source = blake2b256(Buffer.from(`transfer ${n}`))
    utxos.push({ outref: `${toHex(source)}#0`, output: toHex(output(lovelace)) })
    const body = new CborWriter().map(3)
    body.uint(0).tag(258).array(1).array(2).bytes(source).uint(0)
    body
      .uint(1)
      .array(1)
      .raw(output(lovelace - fee))
      .uint(2)
      .uint(fee)
    const id = blake2b256(body.toBytes())
    const cbor = new CborWriter().array(4).raw(body.toBytes()).map(1).uint(0).tag(258).array(1)
    cbor
      .array(2)
      .bytes(publicKey)
      .bytes(sign(null, id, key))
      .boolean(true)
      .null()
    return { hash: toHex(id), cborHex: toHex(cbor.toBytes()) }
  })
  const genesisFile = join(await temporaryDirectory(t), 'genesis.json')
  await writeFile(genesisFile, JSON.stringify({ utxos }))
  return { genesisFile, transfers }
}
