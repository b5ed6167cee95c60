import { toHex } from '@ratatosk/cbor'
import { blake2b256, outputReferenceKey, type Script, type Transaction } from '@ratatosk/ledger'
import { addressText } from '../view/address-text.js'
import type { ChainOutput, ChainView } from '../view/chain-view.js'

const languages = {
  native: 'native',
  PlutusV1: 'plutus:v1',
  PlutusV2: 'plutus:v2',
  PlutusV3: 'plutus:v3',
} as const

/** Outputs in Kupo's format. Quantities are bigints, see `encodeJson`. */
export async function matchesJson(chain: ChainView, found: readonly ChainOutput[], resolveHashes: boolean) {
  const spenders = new Map<string, Promise<Transaction | undefined>>()
  const spenderOf = (hash: string) => {
    const spender = spenders.get(hash) ?? transactionOf(chain, hash)
    spenders.set(hash, spender)
    return spender
  }
  const matches = []
  // One after the other: a response may have thousands of outputs.
  for (const output of found) matches.push(await matchJson(chain, output, resolveHashes, spenderOf))
  return matches
}

async function transactionOf(chain: ChainView, hash: string): Promise<Transaction | undefined> {
  return (await chain.transaction(hash))?.transaction.transaction
}

async function matchJson(
  chain: ChainView,
  found: ChainOutput,
  resolveHashes: boolean,
  spenderOf: (hash: string) => Promise<Transaction | undefined>,
) {
  const { output, created, transactionHash, index } = found
  const { datum, referenceScript } = output
  const hash =
    datum.kind === 'inline' ? blake2b256(datum.data) : datum.kind === 'hash' ? datum.hash : undefined
  const assets: Record<string, bigint> = {}
  for (const [policy, names] of output.value.assets) {
    for (const [name, quantity] of names) assets[name === '' ? policy : `${policy}.${name}`] = quantity
  }
  const known =
    datum.kind === 'inline' ? datum.data : hash && resolveHashes ? await chain.datum(toHex(hash)) : undefined
  return {
    transaction_index: created.position,
    transaction_id: transactionHash,
    output_index: index,
    address: addressText(output.address),
    value: { coins: output.value.lovelace, assets },
    datum_hash: hash === undefined ? null : toHex(hash),
    datum_type: datum.kind === 'none' ? undefined : datum.kind,
    script_hash: referenceScript === undefined ? null : toHex(referenceScript.hash),
    created_at: pointJson(created.block),
    spent_at: await spentJson(found, spenderOf),
    ...(resolveHashes && {
      datum: known === undefined ? null : toHex(known),
      script: referenceScript === undefined ? null : scriptJson(referenceScript),
    }),
  }
}

export function scriptJson({ language, bytes }: Script) {
  return { language: languages[language], script: toHex(bytes) }
}

export function pointJson({ slot, hash }: { readonly slot: bigint; readonly hash: string }) {
  return { slot_no: slot, header_hash: hash }
}

/** Where an output was spent, and with which redeemer. The ledger numbers inputs by reference. */
async function spentJson(
  { key, spent }: ChainOutput,
  spenderOf: (hash: string) => Promise<Transaction | undefined>,
) {
  if (spent === undefined) return null
  const spender = await spenderOf(spent.transactionHash)
  const references = spent.by === 'inputs' ? spender?.body.inputs : spender?.body.collateralInputs
  const keys = (references ?? []).map((reference) => ({
    key: outputReferenceKey(reference),
    id: toHex(reference.transactionId),
    index: reference.index,
  }))
  keys.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.index - b.index))
  const position = keys.findIndex((entry) => entry.key === key)
  const redeemer = spender?.witnesses.redeemers.find(
    ({ purpose, index }) => purpose === 'spend' && index === position,
  )
  return {
    ...pointJson(spent.block),
    transaction_id: spent.transactionHash,
    input_index: position,
    redeemer: spent.by === 'inputs' && redeemer !== undefined ? toHex(redeemer.data) : null,
  }
}
