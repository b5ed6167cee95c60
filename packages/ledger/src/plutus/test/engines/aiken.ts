import { createRequire } from 'node:module'
import { CborReader, CborWriter } from '@ratatosk/cbor'
import type { RedeemerPointer } from '../../../rules/script-evaluator.js'
import type { RedeemerPurpose } from '../../../transaction/types.js'
import { type Engine, type EngineAnswer, type EngineRequest, shorten, shortenLogs } from '../../engine.js'

/** Longer models misprice newer builtins: this build has none of ledger version 11. */
const modelLengths = [166, 185, 297] as const

const purposes: { readonly [tag: string]: RedeemerPurpose } = {
  Spend: 'spend',
  Mint: 'mint',
  Publish: 'cert',
  Withdraw: 'reward',
  Vote: 'vote',
  Propose: 'propose',
}

/** In the order of the ledger's redeemer tags. */
const redeemerPurposes: readonly RedeemerPurpose[] = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose']

/** More than any transaction may use, so that budgets do not matter. */
const ample = { steps: 1_000_000_000_000n, memory: 1_000_000_000n }

const pagesPerMb = 16

/**
 * Aiken's machine in WebAssembly. It stops at its budget, but accepts any result of a Plutus V3 script and
 * lacks the builtins of ledger version 11. It throws after a trap, and must not be used again then.
 */
export function createAikenEngine(memoryLimitMb: number): Engine {
  const uplc = load(memoryLimitMb)
  return (request) => {
    let answers: Uint8Array[]
    try {
      answers = uplc.eval_phase_two_raw(
        request.transaction,
        [...request.inputs],
        [...request.outputs],
        costModels(request.costModels),
        ample.steps,
        ample.memory,
        request.slots.zeroTime,
        request.slots.zeroSlot,
        request.slots.slotLength,
      )
    } catch (error) {
      if (typeof error !== 'string') throw error
      return explain(error)
    }
    return { kind: 'evaluated', redeemers: answers.map(readRedeemer) }
  }
}

/** The declarations of WebAssembly that this program needs; TypeScript has them only in its browser types. */
interface WithWebAssembly {
  readonly WebAssembly: { Module: new (bytes: Uint8Array) => object }
}

/** The package instantiates its module on load, so the limit is added to what it compiles. */
function load(memoryLimitMb: number): typeof import('@lucid-evolution/uplc') {
  const { WebAssembly: names } = globalThis as typeof globalThis & WithWebAssembly
  const { Module } = names
  names.Module = class extends Module {
    constructor(bytes: Uint8Array) {
      super(limitMemory(bytes, memoryLimitMb * pagesPerMb))
    }
  }
  try {
    return createRequire(import.meta.url)('@lucid-evolution/uplc')
  } finally {
    names.Module = Module
  }
}

function costModels(models: EngineRequest['costModels']): Uint8Array {
  const writer = new CborWriter(4096).map(models.filter((model) => model.length > 0).length)
  models.forEach((model, language) => {
    if (model.length === 0) return
    const costs = model.subarray(0, modelLengths[language])
    writer.uint(language).array(costs.length)
    for (const cost of costs) writer.int(cost)
  })
  return writer.toBytes()
}

/** `[tag, index, data, [memory, steps]]` */
function readRedeemer(bytes: Uint8Array): RedeemerPointer & { used: { memory: bigint; steps: bigint } } {
  const reader = new CborReader(bytes)
  reader.readArray()
  const tag = reader.readUint()
  const index = reader.readUint()
  reader.skip()
  reader.readArray()
  const used = { memory: reader.readUint64(), steps: reader.readUint64() }
  const purpose = redeemerPurposes[tag]
  if (purpose === undefined) throw new TypeError(`Aiken names an unknown redeemer tag: ${tag}`)
  return { purpose, index, used }
}

/** `failed script execution`, then `Mint[0] <why>`, then details; each traced line begins with `Trace`. */
function explain(error: string): EngineAnswer {
  const failed = /^\s*failed script execution\s+(\w+)\[(\d+)\]\s*(.*)$/s.exec(error)
  if (failed === null) return { kind: 'refused', message: shorten(error.trim()) }
  const [, tag = '', index = '', rest = ''] = failed
  const purpose = purposes[tag]
  const message = rest.split('\n', 1)[0]?.trim() ?? ''
  return {
    kind: 'failed',
    message: shorten(message),
    logs: shortenLogs(traces(rest)),
    overBudget: message.startsWith('execution went over budget'),
    ...(purpose === undefined ? {} : { redeemer: { purpose, index: Number(index) } }),
  }
}

function traces(text: string): string[] {
  const logs: string[] = []
  for (const line of text.split('\n')) {
    const traced = /^\s*Trace (.*)$/.exec(line)
    if (traced?.[1] !== undefined) logs.push(traced[1])
  }
  return logs
}

const memorySection = 5

/** Adds a maximum, in 64 KiB pages, to a module's memory: growth beyond traps (WebAssembly core, 5.5.8). */
export function limitMemory(module: Uint8Array, pages: number): Uint8Array {
  let offset = 8
  while (offset < module.length) {
    const id = module[offset]
    const [size, content] = readUnsigned(module, offset + 1)
    if (id === memorySection) return withMaximum(module, offset, content, content + size, pages)
    offset = content + size
  }
  throw new TypeError('The WebAssembly module has no memory section')
}

function withMaximum(
  module: Uint8Array,
  start: number,
  content: number,
  end: number,
  pages: number,
): Uint8Array {
  const [count, limits] = readUnsigned(module, content)
  const [minimum] = readUnsigned(module, limits + 1)
  if (count !== 1 || (module[limits] ?? 0) > 1)
    throw new TypeError('The WebAssembly memory is not of a known kind')
  const section = [1, 1, ...unsigned(minimum), ...unsigned(Math.max(minimum, pages))]
  return Buffer.concat([
    module.subarray(0, start),
    Uint8Array.of(memorySection, ...unsigned(section.length), ...section),
    module.subarray(end),
  ])
}

/** LEB128. */
function readUnsigned(bytes: Uint8Array, offset: number): [value: number, next: number] {
  let value = 0
  for (let shift = 0; ; shift += 7, offset++) {
    const byte = bytes[offset] ?? 0
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return [value, offset + 1]
  }
}

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...unsigned(Math.floor(value / 0x80))]
}
