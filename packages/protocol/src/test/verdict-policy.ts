import { readFileSync } from 'node:fs'
import { encodeHeader, type Header } from '@ratatosk/block'
import { CborWriter, fromHex } from '@ratatosk/cbor'
import type { PlutusScript } from '@ratatosk/contracts'
import { scriptHash } from '@ratatosk/ledger'
import type { Verdict } from '../removal-drafts.js'

const file = new URL('../../../contracts/src/test/verdict.json', import.meta.url)
const { program }: { program: string } = JSON.parse(readFileSync(file, 'utf8'))
const flat = fromHex(program)
const bytes = new CborWriter(flat.length + 5).bytes(flat).toBytes()

/** The test policy of `@ratatosk/contracts`: it convicts headers with {@link invalidRoot}. */
export const verdictPolicy: PlutusScript = {
  language: 'PlutusV3',
  bytes,
  hash: scriptHash('PlutusV3', bytes),
}

/** A block with this transactions root is fraud. */
export const invalidRoot = new Uint8Array(32).fill(3)

export const convict = (header: Header): Verdict => ({
  kind: 'minted',
  policy: verdictPolicy,
  redeemer: encodeHeader(header),
})
