import { createRequire } from 'node:module'
import { CborWriter } from '@ratatosk/cbor'
import type { RedeemerPurpose } from '../../../transaction/types.js'
import { type Engine, type EngineAnswer, type EngineRequest, shorten, shortenLogs } from '../../engine.js'

const purposes: { readonly [tag: string]: RedeemerPurpose } = {
  Spend: 'spend',
  Mint: 'mint',
  Cert: 'cert',
  Reward: 'reward',
  Voting: 'vote',
  Proposing: 'propose',
}

/** Limits of JavaScript that a script can reach; they do not depend on its budget. */
const exhausted = /RangeError|StackOverflow|OutOfMemory|Maximum call stack/

/**
 * Scalus: exact for Plutus V1 to V3 at ledger version 10. It does not stop at the budget, so the caller must
 * be able to terminate its thread. It has the builtins of ledger version 11 at every version.
 */
export function createScalusEngine(memoryLimitMb: number): Engine {
  const byteStrings: ByteStringLimit = { largest: (memoryLimitMb / 2) * 1024 * 1024, reached: false }
  const scalus = load(byteStrings)
  return (request) => {
    byteStrings.reached = false
    try {
      return evaluate(scalus, request)
    } catch (error) {
      const answer = explain(error)
      return byteStrings.reached ? { kind: 'refused', message: 'A byte string grew too large' } : answer
    }
  }
}

type Scalus = typeof import('scalus')

interface ByteStringLimit {
  readonly largest: number
  reached: boolean
}

/**
 * A thread's memory limit does not count typed arrays, in which scalus keeps byte strings. Their size is
 * therefore limited where they are allocated, before scalus is loaded.
 */
function load(limit: ByteStringLimit): Scalus {
  globalThis.Int8Array = new Proxy(Int8Array, {
    construct(target, args: readonly unknown[]) {
      if (typeof args[0] === 'number' && args[0] > limit.largest) {
        limit.reached = true
        throw new RangeError(`A byte string of more than ${limit.largest} bytes`)
      }
      return Reflect.construct(target, args)
    },
  })
  return createRequire(import.meta.url)('scalus')
}

function evaluate(scalus: Scalus, request: EngineRequest): EngineAnswer {
  const { zeroTime, zeroSlot, slotLength } = request.slots
  const utxos = new CborWriter().map(request.inputs.length)
  request.inputs.forEach((input, i) => {
    utxos.raw(input).raw(request.outputs[i] ?? new Uint8Array())
  })
  const evaluated = scalus.Scalus.evalPlutusScripts(
    request.transaction,
    utxos.toBytes(),
    new scalus.SlotConfig(Number(zeroTime), Number(zeroSlot), slotLength),
    request.costModels.map((model) => Array.from(model, Number)),
  )
  return {
    kind: 'evaluated',
    redeemers: evaluated.map(({ tag, index, budget }) => {
      const purpose = purposes[tag]
      if (purpose === undefined) throw new TypeError(`Scalus names an unknown purpose: ${tag}`)
      return { purpose, index, used: { memory: BigInt(budget.memory), steps: BigInt(budget.steps) } }
    }),
  }
}

/** Its errors are not instances of `Error`; the error of a failed script has `logs`. */
function explain(error: unknown): EngineAnswer {
  const thrown: { readonly message?: unknown; readonly logs?: unknown } =
    typeof error === 'object' && error !== null ? error : {}
  const message = shorten(typeof thrown.message === 'string' ? thrown.message : String(error))
  if (!Array.isArray(thrown.logs) || exhausted.test(message)) return { kind: 'refused', message }
  return {
    kind: 'failed',
    message: firstLine(message),
    logs: shortenLogs(thrown.logs.map(String)),
    overBudget: false,
  }
}

/** The lines after the first have details of the evaluation that the answer contains anyway. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message
}
