import type { PlutusLanguage } from '../../../transaction/types.js'
import { type BuiltinName, builtinNames } from '../builtin-names.js'
import { type Meter, maxExact } from '../meter.js'
import type { Value } from '../values/value.js'
import { type Measure, measuring, reach } from './measures.js'
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

/** How a builtin is charged: steps, memory, and how each argument is measured. */
type Charging = readonly [steps: CostShape, memory: CostShape, measures: readonly Measure[]]

/** The charging of every builtin whose cost depends on its arguments, save for integer divisions. */
const sized: { readonly [name in BuiltinName]?: Charging } = {
  addInteger: ['maxSize', 'maxSize', ['integer', 'integer']],
  subtractInteger: ['maxSize', 'maxSize', ['integer', 'integer']],
  multiplyInteger: ['multipliedSizes', 'addedSizes', ['integer', 'integer']],
  equalsInteger: ['minSize', 'constant', ['integer', 'integer']],
  lessThanInteger: ['minSize', 'constant', ['integer', 'integer']],
  lessThanEqualsInteger: ['minSize', 'constant', ['integer', 'integer']],
  appendByteString: ['addedSizes', 'addedSizes', ['bytes', 'bytes']],
  consByteString: ['linearInY', 'addedSizes', ['integer', 'bytes']],
  sliceByteString: ['linearInZ', 'linearInZ', ['ignored', 'ignored', 'bytes']],
  equalsByteString: ['linearOnDiagonal', 'constant', ['bytes', 'bytes']],
  lessThanByteString: ['minSize', 'constant', ['bytes', 'bytes']],
  lessThanEqualsByteString: ['minSize', 'constant', ['bytes', 'bytes']],
  sha2_256: ['linearInX', 'constant', ['bytes']],
  sha3_256: ['linearInX', 'constant', ['bytes']],
  blake2b_256: ['linearInX', 'constant', ['bytes']],
  verifyEd25519Signature: ['linearInY', 'constant', ['ignored', 'bytes']],
  appendString: ['addedSizes', 'addedSizes', ['text', 'text']],
  equalsString: ['linearOnDiagonal', 'constant', ['text', 'text']],
  encodeUtf8: ['linearInX', 'linearInX', ['text']],
  decodeUtf8: ['linearInX', 'linearInX', ['bytes']],
  equalsData: ['minSize', 'constant', ['lesserData', 'lesserData']],
  serialiseData: ['linearInX', 'linearInX', ['data']],
  verifySchnorrSecp256k1Signature: ['linearInY', 'constant', ['ignored', 'bytes']],
  bls12_381_G1_scalarMul: ['linearInX', 'constant', ['integer']],
  bls12_381_G1_hashToGroup: ['linearInX', 'constant', ['bytes']],
  bls12_381_G2_scalarMul: ['linearInX', 'constant', ['integer']],
  bls12_381_G2_hashToGroup: ['linearInX', 'constant', ['bytes']],
  keccak_256: ['linearInX', 'constant', ['bytes']],
  blake2b_224: ['linearInX', 'constant', ['bytes']],
  integerToByteString: ['quadraticInZ', 'literalInYOrLinearInZ', ['ignored', 'wordsOfBytes', 'integer']],
  byteStringToInteger: ['quadraticInY', 'linearInY', ['ignored', 'bytes']],
  andByteString: ['linearInYAndZ', 'linearInMaxYZ', ['ignored', 'bytes', 'bytes']],
  orByteString: ['linearInYAndZ', 'linearInMaxYZ', ['ignored', 'bytes', 'bytes']],
  xorByteString: ['linearInYAndZ', 'linearInMaxYZ', ['ignored', 'bytes', 'bytes']],
  complementByteString: ['linearInX', 'linearInX', ['bytes']],
  writeBits: ['linearInY', 'linearInX', ['bytes', 'list']],
  replicateByte: ['linearInX', 'linearInX', ['wordsOfBytes']],
  shiftByteString: ['linearInX', 'linearInX', ['bytes']],
  rotateByteString: ['linearInX', 'linearInX', ['bytes']],
  countSetBits: ['linearInX', 'constant', ['bytes']],
  findFirstSetBit: ['linearInX', 'constant', ['bytes']],
  ripemd_160: ['linearInX', 'constant', ['bytes']],
  expModInteger: ['expMod', 'linearInZ', ['integer', 'integer', 'integer']],
  dropList: ['linearInX', 'constant', ['literal']],
  listToArray: ['linearInX', 'linearInX', ['list']],
  bls12_381_G1_multiScalarMul: ['linearInX', 'constant', ['list']],
  bls12_381_G2_multiScalarMul: ['linearInX', 'constant', ['list']],
  insertCoin: ['linearInU', 'linearInU', ['ignored', 'ignored', 'ignored', 'coinsDepth']],
  lookupCoin: ['linearInZ', 'constant', ['ignored', 'ignored', 'coinsDepth']],
  unionValue: ['withInteraction', 'addedSizes', ['coins', 'coins']],
  valueContains: ['aboveDiagonalConstantElseLinear', 'constant', ['coins', 'coins']],
  valueData: ['linearInX', 'linearInX', ['coins']],
  unValueData: ['quadraticInX', 'linearInX', ['dataNodes']],
  scaleValue: ['linearInY', 'linearInY', ['ignored', 'coins']],
}

const constant: Charging = ['constant', 'constant', []]

/** The others. Without a row that is needed, the cost models have not the lengths of those on networks. */
const unsized = Object.fromEntries(builtinNames.map((name) => [name, constant])) as {
  readonly [name in BuiltinName]: Charging
}

/**
 * The charging of every builtin. Languages and ledger versions differ only in integer division: the
 * semantics variants of plutus-core are B (V1 and V2 up to ledger version 10), C (V3), D and E (since 11).
 */
export function chargings(language: PlutusLanguage, protocolMajor: number): typeof unsized {
  const third = language === 'PlutusV3'
  const quotient: CostShape = third
    ? 'aboveDiagonalConstantElseQuadratic'
    : 'aboveDiagonalConstantElseProduct'
  const since11: CostShape = third ? 'quadraticOfGreaterAndLesser' : 'product'
  const divide = protocolMajor >= 11 ? since11 : quotient
  const modulusOfOld: CostShape = protocolMajor >= 11 ? 'linearInYPastMinimum' : 'subtractedSizes'
  const modulus: CostShape = third ? 'linearInY' : modulusOfOld
  return {
    ...unsized,
    ...sized,
    divideInteger: [divide, 'subtractedSizes', ['integer', 'integer']],
    quotientInteger: [quotient, 'subtractedSizes', ['integer', 'integer']],
    remainderInteger: [quotient, modulus, ['integer', 'integer']],
    modInteger: [divide, modulus, ['integer', 'integer']],
  }
}

/** The steps of the machine, and its startup cost. */
const machineSteps = [
  'var',
  'delay',
  'lam',
  'apply',
  'const',
  'force',
  'builtin',
  'constr',
  'case',
  'startup',
] as const

type MachineStep = (typeof machineSteps)[number]

/** The items that have parameters in a cost model. The steps of the machine are marked. */
type Costed = BuiltinName | `@${MachineStep}`

/** The first parameters of Plutus V2 and V3, in alphabetical order: steps before memory. */
const original: readonly Costed[] = [
  'addInteger',
  'appendByteString',
  'appendString',
  'bData',
  'blake2b_256',
  '@apply',
  '@builtin',
  '@const',
  '@delay',
  '@force',
  '@lam',
  '@startup',
  '@var',
  'chooseData',
  'chooseList',
  'chooseUnit',
  'consByteString',
  'constrData',
  'decodeUtf8',
  'divideInteger',
  'encodeUtf8',
  'equalsByteString',
  'equalsData',
  'equalsInteger',
  'equalsString',
  'fstPair',
  'headList',
  'iData',
  'ifThenElse',
  'indexByteString',
  'lengthOfByteString',
  'lessThanByteString',
  'lessThanEqualsByteString',
  'lessThanEqualsInteger',
  'lessThanInteger',
  'listData',
  'mapData',
  'mkCons',
  'mkNilData',
  'mkNilPairData',
  'mkPairData',
  'modInteger',
  'multiplyInteger',
  'nullList',
  'quotientInteger',
  'remainderInteger',
  'serialiseData',
  'sha2_256',
  'sha3_256',
  'sliceByteString',
  'sndPair',
  'subtractInteger',
  'tailList',
  'trace',
  'unBData',
  'unConstrData',
  'unIData',
  'unListData',
  'unMapData',
  'verifyEcdsaSecp256k1Signature',
  'verifyEd25519Signature',
  'verifySchnorrSecp256k1Signature',
]

/** Those that Plutus V1 did not have. */
const afterV1: readonly Costed[] = [
  'serialiseData',
  'verifyEcdsaSecp256k1Signature',
  'verifySchnorrSecp256k1Signature',
]
const sums: readonly Costed[] = ['@constr', '@case']
const curves: readonly Costed[] = [
  'bls12_381_G1_add',
  'bls12_381_G1_compress',
  'bls12_381_G1_equal',
  'bls12_381_G1_hashToGroup',
  'bls12_381_G1_neg',
  'bls12_381_G1_scalarMul',
  'bls12_381_G1_uncompress',
  'bls12_381_G2_add',
  'bls12_381_G2_compress',
  'bls12_381_G2_equal',
  'bls12_381_G2_hashToGroup',
  'bls12_381_G2_neg',
  'bls12_381_G2_scalarMul',
  'bls12_381_G2_uncompress',
  'bls12_381_finalVerify',
  'bls12_381_millerLoop',
  'bls12_381_mulMlResult',
  'keccak_256',
  'blake2b_224',
]
const conversions: readonly Costed[] = ['integerToByteString', 'byteStringToInteger']
const bits: readonly Costed[] = [
  'andByteString',
  'orByteString',
  'xorByteString',
  'complementByteString',
  'readBit',
  'writeBits',
  'replicateByte',
  'shiftByteString',
  'rotateByteString',
  'countSetBits',
  'findFirstSetBit',
  'ripemd_160',
]
const ledgerVersion11: readonly Costed[] = [
  'expModInteger',
  'dropList',
  'lengthOfArray',
  'listToArray',
  'indexArray',
  'bls12_381_G1_multiScalarMul',
  'bls12_381_G2_multiScalarMul',
  'insertCoin',
  'lookupCoin',
  'unionValue',
  'valueContains',
  'valueData',
  'unValueData',
  'scaleValue',
]

/** The order of a language's cost model (`ParamName` in plutus-ledger-api). A network's may be shorter. */
export const costOrder: { readonly [language in PlutusLanguage]: readonly Costed[] } = {
  PlutusV1: [
    ...original.filter((name) => !afterV1.includes(name)),
    ...afterV1,
    ...sums,
    ...curves,
    ...conversions,
    ...bits,
    ...ledgerVersion11,
  ],
  PlutusV2: [...original, ...conversions, ...sums, ...curves, ...bits, ...ledgerVersion11],
  PlutusV3: [...original, ...sums, ...curves, ...conversions, ...bits, ...ledgerVersion11],
}
