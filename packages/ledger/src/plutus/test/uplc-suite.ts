import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { EvaluationResult, Evaluator, ExecutionUnits } from '../../rules/script-evaluator.js'
import { type ExpectedConstant, expectedConstant } from './expected-constant.js'
import { flatProgram } from './flat.js'
import { evaluateMint } from './mint.js'
import { asScript, succeed, succeedIfEqual } from './wrap.js'

/** A case of plutus-conformance: a program, its result and its cost. */
export interface UplcCase {
  /** Folder of the case, relative to the suite. */
  readonly name: string
  /** The text of the program, searched for names; it is never parsed. */
  readonly source: string
  /** Absent if the case is only about the textual parser. */
  readonly flat?: Uint8Array
  readonly expected:
    | { readonly kind: 'unreadable' }
    | { readonly kind: 'failure' }
    | { readonly kind: 'success'; readonly constant?: ExpectedConstant; readonly budget?: ExecutionUnits }
}

/** The part that was compared: a script can compare constants, but not functions. */
type Compared = 'value' | 'success' | 'failure' | 'unreadable'

export interface UplcOutcome {
  readonly name: string
  readonly compared: Compared
  readonly right: boolean
  /** Absent if the suite has no budget or the result is wrong. */
  readonly exact?: boolean
  readonly message: string
}

export function readUplcCases(folder: string): UplcCase[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.uplc'))
    .sort()
    .map((path) => readCase(folder, join(folder, path.slice(0, -'.uplc'.length))))
}

function readCase(folder: string, stem: string): UplcCase {
  const flat = readOptional(`${stem}.flat`)
  const text = readFileSync(`${stem}.uplc.expected`, 'utf8').trim()
  const budget = readOptional(`${stem}.budget.expected`)?.toString('utf8')
  return {
    name: relative(folder, join(stem, '..')),
    source: readFileSync(`${stem}.uplc`, 'utf8'),
    ...(flat === undefined ? {} : { flat }),
    expected: expectation(text, budget),
  }
}

function readOptional(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function expectation(text: string, budgetText: string | undefined): UplcCase['expected'] {
  if (text.startsWith('parse')) return { kind: 'unreadable' }
  if (text.startsWith('evaluation failure')) return { kind: 'failure' }
  const constant = expectedConstant(text)
  const figures = /cpu:\s*(\d+)[\s|]*mem:\s*(\d+)/.exec(budgetText ?? '')
  const budget =
    figures?.[1] === undefined || figures[2] === undefined
      ? undefined
      : { steps: BigInt(figures[1]), memory: BigInt(figures[2]) }
  return {
    kind: 'success',
    ...(constant === undefined ? {} : { constant }),
    ...(budget === undefined ? {} : { budget }),
  }
}

/** Counters are saturating 64-bit integers. */
const maxUnits = 2n ** 63n - 1n
const declared: ExecutionUnits = { memory: maxUnits, steps: maxUnits }

/** The cost of `(con unit ())`: the start and one step of the machine. */
const unitCost: ExecutionUnits = { memory: 200n, steps: 16_100n }

export type UplcRunner = (subject: UplcCase & { readonly flat: Uint8Array }) => Promise<UplcOutcome>

/**
 * Runs cases through an evaluator, each as a transaction's Plutus V3 policy: once for its budget, minus the
 * cost of the policy around it, and again to compare a constant result.
 */
export async function createUplcRunner(
  evaluator: Evaluator,
  parameters: ProtocolParameters,
): Promise<UplcRunner> {
  const run = (flat: Uint8Array) => evaluateMint(evaluator, { flat, declared }, parameters)

  const empty = used(await run(asScript(flatProgram(['con', { type: 'unit' }]), succeed)))
  if (empty === undefined) throw new Error('The empty program does not succeed')
  const own = { memory: empty.memory - unitCost.memory, steps: empty.steps - unitCost.steps }

  return async ({ name, flat, expected }) => {
    const result = await run(asScript(flat, succeed))
    const { failure } = result
    const message = failure === undefined ? '' : `${failure.kind}: ${failure.message}`
    if (expected.kind === 'unreadable') {
      return { name, compared: expected.kind, right: failure?.kind === 'MalformedScript', message }
    }
    if (expected.kind === 'failure') {
      const validated = failure?.kind === 'ScriptFailure' || failure?.kind === 'BudgetExceeded'
      return { name, compared: expected.kind, right: validated, message: message || 'The program succeeds' }
    }
    const compared = expected.constant === undefined ? 'success' : 'value'
    const units = used(result)
    if (units === undefined) return { name, compared, right: false, message }
    if (expected.constant !== undefined) {
      const equal = await run(asScript(flat, succeedIfEqual(expected.constant)))
      if (!equal.ok)
        return { name, compared, right: false, message: 'The program evaluates to another constant' }
    }
    if (expected.budget === undefined) return { name, compared, right: true, message: '' }
    const spent = { memory: withoutOwn(units.memory, own.memory), steps: withoutOwn(units.steps, own.steps) }
    const exact = spent.memory === expected.budget.memory && spent.steps === expected.budget.steps
    return {
      name,
      compared,
      right: true,
      exact,
      message: exact ? '' : `${describe(spent)} instead of ${describe(expected.budget)}`,
    }
  }
}

function used({ redeemers: [redeemer] }: EvaluationResult): ExecutionUnits | undefined {
  return redeemer?.outcome.kind === 'Succeeded' ? redeemer.outcome.used : undefined
}

function withoutOwn(units: bigint, own: bigint): bigint {
  return units === maxUnits ? maxUnits : units - own
}

function describe({ memory, steps }: ExecutionUnits): string {
  return `${memory} memory units and ${steps} steps`
}
