import { type Constant, ValueKind } from './constant.js'
import type { Term } from './term.js'

/** The arguments of the functions that enclose a term, innermost first. */
export class CekEnvironment {
  constructor(
    readonly value: Value,
    readonly outer: CekEnvironment | null,
  ) {}
}

export class Lambda {
  readonly kind = ValueKind.lambda
  constructor(
    readonly body: Term,
    readonly environment: CekEnvironment | null,
  ) {}
}

export class Delayed {
  readonly kind = ValueKind.delayed
  constructor(
    readonly body: Term,
    readonly environment: CekEnvironment | null,
  ) {}
}

export class Constructed {
  readonly kind = ValueKind.constructed
  constructor(
    readonly tag: number,
    readonly fields: readonly Value[],
  ) {}
}

/** A builtin that is not yet fully forced and applied. */
export class Builtin {
  readonly kind = ValueKind.builtin
  constructor(
    readonly index: number,
    readonly forces: number,
    readonly args: readonly Value[],
  ) {}
}

export type Value = Constant | Lambda | Delayed | Constructed | Builtin
