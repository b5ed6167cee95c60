import { readFileSync } from 'node:fs'
import { encodeHeader, type Header, headerHash } from '@ratatosk/block'
import { CborWriter, fromHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import type { PlutusScript } from '../script/apply.js'
import type { Token } from './transaction.js'

/** The policy of `verdict-policy.ts`, compiled by `scripts/write-verdict.mjs`, for other packages too. */
const verdictFile = new URL('../../src/test/verdict.json', import.meta.url)

export const verdict: { readonly script: PlutusScript; readonly hash: Uint8Array } = (() => {
  const { program }: { program: string } = JSON.parse(readFileSync(verdictFile, 'utf8'))
  const flat = fromHex(program)
  const code = new CborWriter(flat.length + 5).bytes(flat).toBytes()
  const hash = scriptHash('PlutusV3', code)
  return { script: { language: 'PlutusV3', bytes: code, hash }, hash }
})()

export const verdictToken = (header: Header, policy = verdict.hash, quantity = 1n): Token => ({
  policy,
  name: headerHash(header),
  quantity,
})

export const convicting = (header: Header) => ({ policy: verdict.hash, redeemer: encodeHeader(header) })
