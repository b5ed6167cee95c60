// Runs the scripts of the layer-1 transactions of a bridge demo by two engines of others, scalus and Aiken's,
// and fails if one refuses. Every script that runs has to be one of packages/contracts/plutus.json, applied.
//
//   node apps/cli/dist/main.js demo bridge --json | node scripts/replay-bridge.mjs
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { defaultParameters, testGenesis } from '../packages/devnet/dist/index.js'
import {
  decodeTransaction,
  decodeTransactionOutput,
  encodeOutputReference,
  outputReferenceKey,
} from '../packages/ledger/dist/index.js'
import { createAikenEngine } from '../packages/ledger/dist/plutus/test/engines/aiken.js'
import { createScalusEngine } from '../packages/ledger/dist/plutus/test/engines/scalus.js'
import { root } from './prepare.mjs'

const memoryLimitMb = 1024
const engines = {
  scalus: createScalusEngine(memoryLimitMb),
  aiken: createAikenEngine(memoryLimitMb),
}
const parameters = defaultParameters()
const costModels = ['PlutusV1', 'PlutusV2', 'PlutusV3'].map((language) =>
  BigInt64Array.from(parameters.costModels[language] ?? []),
)
const contracts = join(root, 'packages/contracts')
const { validators } = JSON.parse(readFileSync(join(contracts, 'plutus.json'), 'utf8'))

const { layer1, earlier, slots } = JSON.parse(readFileSync(0, 'utf8'))
const outputs = outputsOf([...earlier, ...layer1.map(({ cbor }) => cbor)])
for (const step of layer1) replay(step)

/** CBOR of the outputs of the genesis and of transactions, by reference. Their ids vouch for them. */
function outputsOf(transactions) {
  const known = new Map(testGenesis().utxos.map(({ outref, output }) => [outref, Buffer.from(output, 'hex')]))
  for (const cbor of transactions) {
    const { id, body } = decodeTransaction(Buffer.from(cbor, 'hex'))
    for (const [index, { bytes }] of body.outputs.entries())
      known.set(outputReferenceKey({ transactionId: id, index }), bytes)
  }
  return known
}

function replay({ what, txHash, cbor }) {
  const transaction = Buffer.from(cbor, 'hex')
  const { id, body, witnesses } = decodeTransaction(transaction)
  if (Buffer.from(id).toString('hex') !== txHash) throw new Error(`${what}: its id is not ${txHash}`)
  const references = [...body.inputs, ...body.referenceInputs]
  const spent = references.map((reference) => {
    const key = outputReferenceKey(reference)
    const output = outputs.get(key)
    if (output === undefined) throw new Error(`${what}: nothing printed has the output ${key}`)
    return output
  })
  const titles = spent.flatMap((output) => titleOf(decodeTransactionOutput(output).referenceScript) ?? [])
  const request = {
    transaction,
    inputs: references.map(encodeOutputReference),
    outputs: spent,
    costModels,
    slots: { zeroTime: BigInt(slots.zeroTime), zeroSlot: 0n, slotLength: slots.slotLength },
    protocolMajor: parameters.ledgerVersion,
  }
  for (const [name, engine] of Object.entries(engines)) {
    const verdict = verdictOf(engine(request), witnesses.redeemers)
    console.log(`${what.padEnd(7)} ${name.padEnd(6)} ${verdict.text} (${titles.join(', ')})`)
    if (!verdict.ok) process.exitCode = 1
  }
}

/** Accepted is what needs no more than its redeemers allow. */
function verdictOf(answer, redeemers) {
  if (answer.kind !== 'evaluated') return { ok: false, text: `refuses: ${answer.message}` }
  const runs = redeemers.map(({ purpose, index, executionUnits }) => {
    const run = answer.redeemers.find((each) => each.purpose === purpose && each.index === index)
    const { memory = 0n, steps = 0n } = run?.used ?? {}
    const ok = run && memory <= executionUnits.memory && steps <= executionUnits.steps
    return { ok, text: `${purpose}[${index}] ${memory}/${executionUnits.memory} memory` }
  })
  const ok = runs.length > 0 && runs.every((run) => run.ok)
  return { ok, text: `${ok ? 'accepts' : 'REFUSES'} ${runs.map(({ text }) => text).join(', ')}` }
}

/** The validator of plutus.json that a reference script is, but for its parameters. */
function titleOf(script) {
  if (script === undefined) return undefined
  const found = validators.find(({ compiledCode, parameters = [] }) => {
    const applied = applyZeros(compiledCode, parameters.length)
    // The lengths come first, and the last byte of the code is shifted.
    const same = sharedLength(applied.subarray(3), script.bytes.subarray(3))
    return same >= compiledCode.length / 2 - 5
  })
  if (found === undefined) throw new Error('A reference script is none of plutus.json')
  return found.title.split('.')[0]
}

/** Code that is applied to numbers: up to these it has the bytes of code that is applied to anything else. */
function applyZeros(compiledCode, count) {
  const { apply_params_to_script: apply } = createRequire(join(contracts, 'package.json'))(
    '@lucid-evolution/uplc',
  )
  return apply(Buffer.from([0x80 + count, ...Array(count).fill(0)]), Buffer.from(compiledCode, 'hex'))
}

function sharedLength(one, other) {
  const length = one.findIndex((byte, index) => byte !== other[index])
  return length === -1 ? one.length : length
}
