import {
  data,
  fn,
  IRApp,
  IRDelayed,
  IRForced,
  IRFunc,
  IRHoisted,
  IRNative,
  IRVar,
  lam,
  type PBool,
  type PByteString,
  type PData,
  type PInt,
  type PLam,
  type PList,
  type PPair,
  type PType,
  type PUnit,
  precursive,
  Term,
} from '@harmoniclabs/plu-ts'

/*
 * The part of plu-ts that the validators are written in: its terms, its recursion and its compiler, over Plutus data.
 * Not its dot notation: that binds each field with `plet`, and the compiler shares what was bound across branches by its
 * looks, so that a branch not taken may be evaluated and fail; and it takes the parts of a constructor for data in need
 * of unwrapping, which they are not. Here a value is evaluated where `keep` stands, and nowhere else.
 *
 * TypeScript checks the types of terms; plu-ts is told `data` for each, as it needs them for its own notation only.
 */

export type Bool = Term<PBool>
export type Bytes = Term<PByteString>
export type Data = Term<PData>
export type Int = Term<PInt>
export type List = Term<PList<PData>>
export type Entry = Term<PPair<PData, PData>>
export type Entries = Term<PList<PPair<PData, PData>>>
export type Constr = Term<PPair<PInt, PList<PData>>>
export type Unit = Term<PUnit>

/** A function applied to its arguments. */
export function call<Out extends PType>(
  callee: IRNative | Term<PType>,
  ...args: readonly Term<PType>[]
): Term<Out> {
  return new Term<Out>(data, (config, depth) => {
    const applied = callee instanceof Term ? callee.toIR(config, depth) : callee
    return args.reduce(
      (term: typeof applied | IRApp, arg) => new IRApp(term, arg.toIR(config, depth)),
      applied,
    )
  })
}

/** A function of one argument. */
export function lambda<A extends PType, B extends PType>(
  body: (input: Term<A>) => Term<B>,
): Term<PLam<A, B>> {
  return new Term<PLam<A, B>>(lam(data, data), (config, depth) => {
    const own = depth + 1n
    const input = new Term<A>(data, (_config, at) => new IRVar(at - own))
    return new IRFunc(1, body(input).toIR(config, own))
  })
}

/**
 * A term that begins by naming values. Each `yield* keep(value)` evaluates the value there, once, for all that follows.
 *
 * @example
 * const doubled = naming(function* () {
 *   const head = yield* keep(unIData(headList(items)))
 *   return addInteger(head, head)
 * })
 */
export function naming<B extends PType>(steps: () => Generator<Term<PType>, Term<B>, Term<PType>>): Term<B> {
  return new Term<B>(data, (config, start) => {
    const running = steps()
    const next = (depth: bigint, ...named: [] | [Term<PType>]): ReturnType<Term<B>['toIR']> => {
      const step = running.next(...(named as [Term<PType>]))
      if (step.done === true) return step.value.toIR(config, depth)
      const own = depth + 1n
      const value = step.value.toIR(config, depth)
      const name = new Term<PType>(data, (_config, at) => new IRVar(at - own))
      return new IRApp(new IRFunc(1, next(own, name)), value)
    }
    return next(start)
  })
}

export function* keep<A extends PType>(value: Term<A>): Generator<Term<PType>, Term<A>, Term<PType>> {
  return (yield value) as Term<A>
}

/** A function whose code stands in the script once, however often it is called. It may use nothing but its argument. */
export function define<A extends PType, B extends PType>(
  body: (input: Term<A>) => Term<B>,
): (input: Term<A>) => Term<B> {
  const closed = lambda(body)
  const hoisted = new Term<PLam<A, B>>(lam(data, data), (config) => new IRHoisted(closed.toIR(config, 0n)))
  return (input) => call(hoisted, input)
}

/** A function that may call itself. */
export function recursive<A extends PType, B extends PType>(
  body: (self: (input: Term<A>) => Term<B>, input: Term<A>) => Term<B>,
): (input: Term<A>) => Term<B> {
  const step = new Term<PLam<PLam<A, B>, PLam<A, B>>>(fn([lam(data, data), data], data), (config, depth) =>
    lambda<PLam<A, B>, PLam<A, B>>((self) => lambda((input) => body((next) => call(self, next), input))).toIR(
      config,
      depth,
    ),
  )
  const looped = precursive(step)
  return (input) => call(looped, input)
}

/** Evaluates only the branch that is taken. */
export function choose<A extends PType>(condition: Bool, yes: Term<A>, no: Term<A>): Term<A> {
  return new Term<A>(
    data,
    (config, depth) =>
      new IRForced(
        [
          condition.toIR(config, depth),
          new IRDelayed(yes.toIR(config, depth)),
          new IRDelayed(no.toIR(config, depth)),
        ].reduce((term: IRNative | IRApp, arg) => new IRApp(term, arg), IRNative.strictIfThenElse) as IRApp,
      ),
  )
}
