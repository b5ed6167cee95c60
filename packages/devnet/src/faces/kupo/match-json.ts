import { blake2b256, outputReferenceKey, type Script, toHex } from '@ratatosk/ledger'
import { addressText } from '../../chain/address-text.js'
import type { ChainOutput } from '../../chain/types.js'
import type { Devnet } from '../../types.js'

const languages = {
  native: 'native',
  PlutusV1: 'plutus:v1',
  PlutusV2: 'plutus:v2',
  PlutusV3: 'plutus:v3',
} as const

/** An output as Kupo shows it. Quantities are bigints: numbers in its JSON. */
export function matchJson(devnet: Devnet, found: ChainOutput, resolveHashes: boolean) {
  const { output, created, transactionHash, index } = found
  const { datum, referenceScript } = output
  const hash =
    datum.kind === 'inline' ? blake2b256(datum.data) : datum.kind === 'hash' ? datum.hash : undefined
  const assets: Record<string, bigint> = {}
  for (const [policy, names] of output.value.assets) {
    for (const [name, quantity] of names) assets[name === '' ? policy : `${policy}.${name}`] = quantity
  }
  const known = hash && devnet.datum(toHex(hash))
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
    spent_at: spentJson(devnet, found),
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

/** Where an output was spent, and with which redeemer: inputs are counted in the order of the ledger's sets. */
function spentJson(devnet: Devnet, { key, spent }: ChainOutput) {
  if (spent === undefined) return null
  const spender = devnet.transaction(spent.transactionHash)?.transaction.transaction
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
