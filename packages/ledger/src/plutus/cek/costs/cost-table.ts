import type { PlutusLanguage } from '../../../transaction/types.js'
import { builtinNames } from '../builtins/names.js'
import { type Meter, maxExact } from '../meter.js'
import type { Value } from '../values/value.js'
import { type Charging, chargings } from './chargings.js'
import { measuring, reach } from './measures.js'
import { type Costed, costOrder, type MachineStep, machineSteps } from './order.js'
import { type CostShape, exactCost, parameterCounts, quickCost } from './shapes.js'

/** Charges a builtin call. Throws if it cannot measure an argument, or the budget is exceeded. */
type Charge = (args: readonly Value[], meter: Meter) => void

interface StepCost {
  readonly steps: number
  readonly memory: number
}

export interface CostTable {
  readonly machine: { readonly [step in MachineStep]: StepCost }
  /** By the number of the builtin in flat. */
  readonly charges: readonly Charge[]
}

/** Exceeds every budget; the cost of builtins that the network's model does not cover. */
const unaffordable = 10_000_000_000_000

interface Parameters {
  readonly steps: readonly number[]
  readonly memory: readonly number[]
}

/** Builds a language's cost table from its cost model. A cost above 2^53 exceeds every budget anyway. */
export function costTable(language: PlutusLanguage, protocolMajor: number, model: BigInt64Array): CostTable {
  const charging = chargings(language, protocolMajor)
  const parameters = new Map<Costed, Parameters>()
  let position = 0
  const take = (shape: CostShape): number[] =>
    Array.from({ length: parameterCounts[shape] }, () => {
      const cost = model[position++]
      return cost === undefined ? unaffordable : Number(cost)
    })
  for (const name of costOrder[language]) {
    const [steps, memory] = isStep(name) ? (['constant', 'constant'] as const) : charging[name]
    parameters.set(name, { steps: take(steps), memory: take(memory) })
  }
  const of = (name: Costed): Parameters =>
    parameters.get(name) ?? { steps: [unaffordable], memory: [unaffordable] }
  const machine = Object.fromEntries(
    machineSteps.map((step) => {
      const { steps, memory } = of(`@${step}`)
      return [step, { steps: steps[0] ?? unaffordable, memory: memory[0] ?? unaffordable }]
    }),
  ) as { [step in MachineStep]: StepCost }
  return {
    machine,
    charges: builtinNames.map((name) => chargeOf(charging[name], of(name), protocolMajor)),
  }
}

function isStep(name: Costed): name is `@${MachineStep}` {
  return name.startsWith('@')
}

function chargeOf(
  [stepShape, memoryShape, measures]: Charging,
  parameters: Parameters,
  major: number,
): Charge {
  const steps = quickCost(stepShape, parameters.steps)
  const memory = quickCost(memoryShape, parameters.memory)
  if (stepShape === 'constant' && memoryShape === 'constant') {
    const [stepCost, memoryCost] = [steps(0, 0, 0, 0), memory(0, 0, 0, 0)]
    return (_, meter) => meter.spend(stepCost, memoryCost)
  }
  const [first, second, third, fourth] = Array.from({ length: 4 }, (_, at) =>
    measuring(measures[at] ?? 'ignored', major),
  )
  const walks = measures.some((measure) => /data/i.test(measure))
  const slope = parameters.steps[1] ?? 0
  const exactSteps = exactCost(stepShape, parameters.steps)
  const exactMemory = exactCost(memoryShape, parameters.memory)
  return (args, meter) => {
    const limit = walks ? reach(meter, slope) : 0
    const x = first === undefined ? 0 : first(args, 0, limit)
    const y = second === undefined ? 0 : second(args, 1, limit)
    const z = third === undefined ? 0 : third(args, 2, limit)
    const u = fourth === undefined ? 0 : fourth(args, 3, limit)
    const stepCost = steps(x, y, z, u)
    const memoryCost = memory(x, y, z, u)
    if (Math.abs(stepCost) <= maxExact && Math.abs(memoryCost) <= maxExact) meter.spend(stepCost, memoryCost)
    else {
      const [a, b, c, d] = [BigInt(x), BigInt(y), BigInt(z), BigInt(u)]
      meter.spendLarge(exactSteps(a, b, c, d), exactMemory(a, b, c, d))
    }
  }
}
