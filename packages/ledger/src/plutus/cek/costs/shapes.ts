/**
 * The costing functions and their parameters, in the order of the cost model (`CostingFun.Core` in
 * plutus-core). x, y, z and u are the sizes of the first to the fourth argument.
 */
export type CostShape =
  | 'constant'
  | 'linearInX'
  | 'linearInY'
  | 'linearInZ'
  | 'linearInU'
  | 'addedSizes'
  | 'multipliedSizes'
  | 'minSize'
  | 'maxSize'
  | 'subtractedSizes'
  | 'linearOnDiagonal'
  | 'quadraticInX'
  | 'quadraticInY'
  | 'quadraticInZ'
  | 'linearInYAndZ'
  | 'linearInMaxYZ'
  | 'literalInYOrLinearInZ'
  | 'withInteraction'
  | 'expMod'
  | 'aboveDiagonalConstantElseProduct'
  | 'aboveDiagonalConstantElseQuadratic'
  | 'aboveDiagonalConstantElseLinear'
  | 'product'
  | 'quadraticOfGreaterAndLesser'
  | 'linearInYPastMinimum'

export const parameterCounts: { readonly [shape in CostShape]: number } = {
  constant: 1,
  linearInX: 2,
  linearInY: 2,
  linearInZ: 2,
  linearInU: 2,
  addedSizes: 2,
  multipliedSizes: 2,
  minSize: 2,
  maxSize: 2,
  subtractedSizes: 3,
  linearOnDiagonal: 3,
  quadraticInX: 3,
  quadraticInY: 3,
  quadraticInZ: 3,
  linearInYAndZ: 3,
  linearInMaxYZ: 2,
  literalInYOrLinearInZ: 2,
  withInteraction: 4,
  expMod: 3,
  aboveDiagonalConstantElseProduct: 3,
  aboveDiagonalConstantElseQuadratic: 8,
  aboveDiagonalConstantElseLinear: 4,
  product: 3,
  quadraticOfGreaterAndLesser: 8,
  linearInYPastMinimum: 3,
}

/** The arithmetic for computing costs: exact integers of any size, or fast floating point. */
interface Arithmetic<N> {
  of(value: number): N
  plus(a: N, b: N): N
  times(a: N, b: N): N
  half(a: N): N
  less(a: N, b: N): boolean
}

const quick: Arithmetic<number> = {
  of: (value) => value,
  plus: (a, b) => a + b,
  times: (a, b) => a * b,
  half: (a) => Math.floor(a / 2),
  less: (a, b) => a < b,
}

const exact: Arithmetic<bigint> = {
  of: (value) => BigInt(value),
  plus: (a, b) => a + b,
  times: (a, b) => a * b,
  half: (a) => a / 2n,
  less: (a, b) => a < b,
}

export type Cost<N> = (x: N, y: N, z: N, u: N) => N

/** Floating-point arithmetic; exact if the result is at most 2^52. */
export function quickCost(shape: CostShape, parameters: readonly number[]): Cost<number> {
  // A shortcut for the most frequent shapes.
  const [a = 0, b = 0] = parameters
  switch (shape) {
    case 'constant':
      return () => a
    case 'linearInX':
      return (x) => a + b * x
    case 'linearInY':
      return (_, y) => a + b * y
    case 'addedSizes':
      return (x, y) => a + b * (x + y)
    case 'minSize':
      return (x, y) => a + b * Math.min(x, y)
    case 'maxSize':
      return (x, y) => a + b * Math.max(x, y)
    default:
      return costOf(quick, shape, parameters)
  }
}

export function exactCost(shape: CostShape, parameters: readonly number[]): Cost<bigint> {
  return costOf(exact, shape, parameters)
}

function costOf<N>(n: Arithmetic<N>, shape: CostShape, parameters: readonly number[]): Cost<N> {
  const p = (index: number): N => n.of(parameters[index] ?? 0)
  const sum = (...terms: readonly N[]): N => terms.reduce((a, b) => n.plus(a, b))
  const product = (...factors: readonly N[]): N => factors.reduce((a, b) => n.times(a, b))
  const max = (a: N, b: N): N => (n.less(a, b) ? b : a)
  const min = (a: N, b: N): N => (n.less(b, a) ? b : a)
  const linear = (size: N): N => sum(p(0), product(p(1), size))
  const quadratic = (size: N): N => sum(p(0), product(p(1), size), product(p(2), size, size))
  /** A constant, then c00, c01, c02, c10, c11, c20 and a minimum. */
  const quadraticInTwo = (x: N, y: N): N =>
    max(
      p(7),
      sum(
        p(1),
        product(p(2), y),
        product(p(3), y, y),
        product(p(4), x),
        product(p(5), x, y),
        product(p(6), x, x),
      ),
    )
  switch (shape) {
    case 'constant':
      return () => p(0)
    case 'linearInX':
      return (x) => linear(x)
    case 'linearInY':
      return (_, y) => linear(y)
    case 'linearInZ':
      return (_x, _y, z) => linear(z)
    case 'linearInU':
      return (_x, _y, _z, u) => linear(u)
    case 'addedSizes':
      return (x, y) => linear(n.plus(x, y))
    case 'multipliedSizes':
      return (x, y) => linear(n.times(x, y))
    case 'minSize':
      return (x, y) => linear(min(x, y))
    case 'maxSize':
      return (x, y) => linear(max(x, y))
    case 'subtractedSizes':
      // intercept, minimum, slope
      return (x, y) => sum(p(0), product(p(2), max(p(1), n.plus(x, n.times(n.of(-1), y)))))
    case 'linearInYPastMinimum':
      // The same three; the minimum is no longer used.
      return (_, y) => sum(p(0), product(p(2), y))
    case 'linearOnDiagonal':
      // constant, intercept, slope
      return (x, y) => (n.less(x, y) || n.less(y, x) ? p(0) : sum(p(1), product(p(2), x)))
    case 'quadraticInX':
      return (x) => quadratic(x)
    case 'quadraticInY':
      return (_, y) => quadratic(y)
    case 'quadraticInZ':
      return (_x, _y, z) => quadratic(z)
    case 'linearInYAndZ':
      return (_, y, z) => sum(p(0), product(p(1), y), product(p(2), z))
    case 'linearInMaxYZ':
      return (_, y, z) => linear(max(y, z))
    case 'literalInYOrLinearInZ':
      return (_, y, z) => (n.less(n.of(0), y) ? y : linear(z))
    case 'withInteraction':
      return (x, y) => sum(p(0), product(p(1), x), product(p(2), y), product(p(3), x, y))
    case 'expMod':
      return (x, y, z) => {
        const cost = sum(p(0), product(p(1), y, z), product(p(2), y, z, z))
        return n.less(z, x) ? n.plus(cost, n.half(cost)) : cost
      }
    case 'aboveDiagonalConstantElseProduct':
      return (x, y) => (n.less(x, y) ? p(0) : sum(p(1), product(p(2), x, y)))
    case 'product':
      return (x, y) => sum(p(1), product(p(2), x, y))
    case 'aboveDiagonalConstantElseQuadratic':
      return (x, y) => (n.less(x, y) ? p(0) : quadraticInTwo(x, y))
    case 'quadraticOfGreaterAndLesser':
      return (x, y) => quadraticInTwo(max(x, y), min(x, y))
    case 'aboveDiagonalConstantElseLinear':
      return (x, y) => (n.less(x, y) ? p(0) : sum(p(1), product(p(2), x), product(p(3), y)))
  }
}
