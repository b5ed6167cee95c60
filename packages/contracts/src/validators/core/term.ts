import {
  DataConstr,
  data,
  fn,
  IRApp,
  IRCase,
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
  pBool,
  pByteString,
  pData,
  perror,
  pInt,
  pmakeUnit,
  precursive,
  pStr,
  Term,
} from '@harmoniclabs/plu-ts'

/*
 * The part of plu-ts that the validators use: terms, recursion and the compiler, over untyped Plutus data.
 *
 * plu-ts's dot notation is not used, for two reasons. It binds each field with `plet`, and the compiler
 * hoists equal `plet`s out of branches, so that a branch not taken may be evaluated and fail. And it treats
 * the parts of a constructor as data still to be unwrapped, which they are not. Here a value is evaluated
 * where `bind` is written and nowhere else.
 *
 * TypeScript checks the types of terms. plu-ts receives `data` for every term: it needs types for its dot
 * notation only.
 */

export type Bool = Term<PBool>
export type Bytes = Term<PByteString>
export type Data = Term<PData>
export type Int = Term<PInt>
export type List = Term<PList<PData>>
export type Entry = Term<PPair<PData, PData>>
export type Entries = Term<PList<PPair<PData, PData>>>
type Constr = Term<PPair<PInt, PList<PData>>>
export type Unit = Term<PUnit>

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
 * A sequence of bindings that ends in a term. Each `yield* bind(value)` is a strict `let`: it evaluates the
 * value once, at that point, for everything below it.
 */
export function scope<B extends PType>(steps: () => Generator<Term<PType>, Term<B>, Term<PType>>): Term<B> {
  return new Term<B>(data, (config, start) => {
    const running = steps()
    const next = (depth: bigint, ...bound: [] | [Term<PType>]): ReturnType<Term<B>['toIR']> => {
      const step = running.next(...(bound as [Term<PType>]))
      if (step.done === true) return step.value.toIR(config, depth)
      const own = depth + 1n
      const value = step.value.toIR(config, depth)
      const variable = new Term<PType>(data, (_config, at) => new IRVar(at - own))
      return new IRApp(new IRFunc(1, next(own, variable)), value)
    }
    return next(start)
  })
}

/** Binds a value inside a {@link scope}. */
export function* bind<A extends PType>(value: Term<A>): Generator<Term<PType>, Term<A>, Term<PType>> {
  return (yield value) as Term<A>
}

/** A term whose code is in the script once, however often it is used. It must be closed. */
export const hoisted = <A extends PType>(closed: Term<A>): Term<A> =>
  new Term<A>(
    data,
    (config, depth) => linker?.(closed, config, depth) ?? new IRHoisted(closed.toIR(config, 0n)),
  )

type Ir = ReturnType<Term<PType>['toIR']>
type Config = Parameters<Term<PType>['toIR']>[0]

/** While a {@link linked} term is translated: the variable that a hoisted term is bound to. */
let linker: ((closed: Term<PType>, config: Config, depth: bigint) => Ir) | undefined

/**
 * Terms keep their translation, by depth. Variables count from their use, so that a closed term may be
 * translated at any depth; at a depth that no other translation uses, nothing kept is reused.
 */
let unusedDepth = 0n
const depthOfItsOwn = (): bigint => {
  unusedDepth += 2n ** 32n
  return unusedDepth
}

/**
 * Binds every {@link hoisted} term of a closed script at its start, each behind those it uses. plu-ts's own
 * hoisting repeats hoisted terms inside others, which doubles a large script.
 */
export function linked<A extends PType>(script: Term<A>): Term<A> {
  return new Term<A>(data, (config) => {
    const order: Term<PType>[] = []
    const start = depthOfItsOwn()
    const depthOf = (place: number): bigint => start + BigInt(place)
    const outer = linker
    try {
      linker = (closed) => {
        if (!order.includes(closed)) {
          closed.toIR(config, depthOfItsOwn())
          order.push(closed)
        }
        return new IRVar(0n)
      }
      script.toIR(config, depthOfItsOwn())
      linker = (closed, _config, depth) => new IRVar(depth - depthOf(order.indexOf(closed) + 1))
      return order.reduceRight(
        (rest: Ir, closed, place) => new IRApp(new IRFunc(1, rest), closed.toIR(config, depthOf(place))),
        script.toIR(config, depthOf(order.length)),
      )
    } finally {
      linker = outer
    }
  })
}

/** A function whose code is in the script once. It must be closed: it uses its argument only. */
export function define<A extends PType, B extends PType>(
  body: (input: Term<A>) => Term<B>,
): (input: Term<A>) => Term<B> {
  const closed = hoisted(lambda(body))
  return (input) => call(closed, input)
}

/** {@link define} for functions of several arguments, which are passed one after the other. */
export function defineOf<Inputs extends readonly PType[], B extends PType>(
  arity: Inputs['length'],
  body: (...inputs: { readonly [I in keyof Inputs]: Term<Inputs[I]> }) => Term<B>,
): (...inputs: { readonly [I in keyof Inputs]: Term<Inputs[I]> }) => Term<B> {
  const take = (taken: readonly Term<PType>[]): Term<PType> =>
    taken.length === arity
      ? (body as (...inputs: readonly Term<PType>[]) => Term<B>)(...taken)
      : lambda((input: Term<PType>) => take([...taken, input]))
  const closed = hoisted(take([]))
  return (...inputs) => call(closed, ...inputs)
}

export function recursive<A extends PType, B extends PType>(
  body: (self: (input: Term<A>) => Term<B>, input: Term<A>) => Term<B>,
): (input: Term<A>) => Term<B> {
  const looped = fixed(body)
  return (input) => call(looped, input)
}

/** {@link recursive} as a term, which can be bound once and called often. */
export function fixed<A extends PType, B extends PType>(
  body: (self: (input: Term<A>) => Term<B>, input: Term<A>) => Term<B>,
): Term<PLam<A, B>> {
  const step = new Term<PLam<PLam<A, B>, PLam<A, B>>>(fn([lam(data, data), data], data), (config, depth) =>
    lambda<PLam<A, B>, PLam<A, B>>((self) => lambda((input) => body((next) => call(self, next), input))).toIR(
      config,
      depth,
    ),
  )
  return precursive(step) as Term<PType> as Term<PLam<A, B>>
}

/**
 * Engines of others know no `case` on constants, which layer 1 knows since protocol version 11. For a second
 * opinion (scripts/second-opinion.mjs), the validators are compiled without.
 */
const withoutCases = process.env.RATATOSK_SECOND_OPINION === '1'

/** `case` on a constant: evaluates only the branch that is taken, in one step. Fails if there is none. */
const caseOf = <A extends PType>(constant: Term<PType>, ...branches: readonly Term<PType>[]): Term<A> =>
  new Term<A>(
    data,
    (config, depth) =>
      new IRCase(
        constant.toIR(config, depth),
        branches.map((each) => each.toIR(config, depth)),
      ),
  )

/** `if`: evaluates only the branch that is taken. */
export const choose = <A extends PType>(condition: Bool, yes: Term<A>, no: Term<A>): Term<A> =>
  withoutCases ? ifThenElse(condition, yes, no) : caseOf(condition, no, yes)

const ifThenElse = <A extends PType>(condition: Bool, yes: Term<A>, no: Term<A>): Term<A> =>
  new Term<A>(
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

/** The branch of a number from 0; fails if there is none. */
export const choosing = <A extends PType>(number: Int, ...branches: readonly Term<A>[]): Term<A> =>
  withoutCases
    ? scope(function* () {
        const chosen = yield* bind(number)
        return branches.reduceRight(
          (others: Term<A>, each, place) =>
            choose(call(IRNative.equalsInteger, chosen, pInt(place)), each, others),
          perror(data) as Term<PType> as Term<A>,
        )
      })
    : caseOf(number, ...branches)

/** A term of a list's first item and the others, or the one of an empty list. */
export const uncons = <T extends PData | PPair<PData, PData>, A extends PType>(
  items: Term<PList<T>>,
  none: Term<A>,
  some: (first: Term<T>, others: Term<PList<T>>) => Term<A>,
): Term<A> =>
  withoutCases
    ? scope(function* () {
        const list = yield* bind(items)
        return choose(
          call(IRNative.nullList, list),
          none,
          scope(function* () {
            const first = yield* bind(call<T>(IRNative.headList, list))
            const others = yield* bind(call<PList<T>>(IRNative.tailList, list))
            return some(first, others)
          }),
        )
      })
    : caseOf(
        items,
        lambda((first: Term<T>) => lambda((others: Term<PList<T>>) => some(first, others))),
        none,
      )

/** Logs a message, then evaluates the term. */
export const traced = <A extends PType>(message: string, term: Term<A>): Term<A> =>
  new Term<A>(
    data,
    (config, depth) =>
      new IRForced(
        [pStr(message).toIR(config, depth), new IRDelayed(term.toIR(config, depth))].reduce(
          (applied: IRNative | IRApp, arg) => new IRApp(applied, arg),
          IRNative.trace,
        ) as IRApp,
      ),
  )

/*
 * Builtin functions under their Plutus Core names, with their Plutus Core types.
 */

export const unConstrData = (value: Data): Constr => call(IRNative.unConstrData, value)
export const unMapData = (value: Data): Entries => call(IRNative.unMapData, value)
export const unListData = (value: Data): List => call(IRNative.unListData, value)
export const unIData = (value: Data): Int => call(IRNative.unIData, value)
export const unBData = (value: Data): Bytes => call(IRNative.unBData, value)
export const constrData = (index: Int, fields: List): Data => call(IRNative.constrData, index, fields)
export const mapData = (entries: Entries): Data => call(IRNative.mapData, entries)
export const listData = (items: List): Data => call(IRNative.listData, items)
export const iData = (value: Int): Data => call(IRNative.iData, value)
export const bData = (value: Bytes): Data => call(IRNative.bData, value)
/** Whether data is a list. */
export const isListData = (value: Data): Bool => {
  const [yes, no] = [boolean(true), boolean(false)]
  return call(IRNative.chooseData, value, no, no, yes, no, no)
}
const mkPairData = (key: Data, value: Data): Entry => call(IRNative.mkPairData, key, value)
export const equalsData = (a: Data, b: Data): Bool => call(IRNative.equalsData, a, b)
export const serialiseData = (value: Data): Bytes => call(IRNative.serialiseData, value)

export const fstPair = <A extends PType, B extends PType>(pair: Term<PPair<A, B>>): Term<A> =>
  call(IRNative.fstPair, pair)
export const sndPair = <A extends PType, B extends PType>(pair: Term<PPair<A, B>>): Term<B> =>
  call(IRNative.sndPair, pair)

export const headList = <T extends PData | PPair<PData, PData>>(items: Term<PList<T>>): Term<T> =>
  call(IRNative.headList, items)
export const tailList = <T extends PData | PPair<PData, PData>>(items: Term<PList<T>>): Term<PList<T>> =>
  call(IRNative.tailList, items)
export const nullList = <T extends PData | PPair<PData, PData>>(items: Term<PList<T>>): Bool =>
  call(IRNative.nullList, items)

export const addInteger = (a: Int, b: Int): Int => call(IRNative.addInteger, a, b)
export const subtractInteger = (a: Int, b: Int): Int => call(IRNative.subtractInteger, a, b)
export const multiplyInteger = (a: Int, b: Int): Int => call(IRNative.multiplyInteger, a, b)
export const divideInteger = (a: Int, b: Int): Int => call(IRNative.divideInteger, a, b)
export const modInteger = (a: Int, b: Int): Int => call(IRNative.modInteger, a, b)
export const equalsInteger = (a: Int, b: Int): Bool => call(IRNative.equalsInteger, a, b)
export const lessThanInteger = (a: Int, b: Int): Bool => call(IRNative.lessThanInteger, a, b)
export const lessThanEqualsInteger = (a: Int, b: Int): Bool => call(IRNative.lessThanEqualInteger, a, b)

export const appendByteString = (a: Bytes, b: Bytes): Bytes => call(IRNative.appendByteString, a, b)
export const consByteString = (byte: Int, rest: Bytes): Bytes => call(IRNative.consByteString, byte, rest)
export const indexByteString = (bytes: Bytes, index: Int): Int => call(IRNative.indexByteString, bytes, index)
export const sliceByteString = (start: Int, length: Int, bytes: Bytes): Bytes =>
  call(IRNative.sliceByteString, start, length, bytes)
export const lengthOfByteString = (bytes: Bytes): Int => call(IRNative.lengthOfByteString, bytes)
export const equalsByteString = (a: Bytes, b: Bytes): Bool => call(IRNative.equalsByteString, a, b)
/** Whether bytes come before others in lexicographic order. */
export const lessThanByteString = (a: Bytes, b: Bytes): Bool => call(IRNative.lessThanByteString, a, b)
/** Whether an Ed25519 signature is valid; fails for a key or signature of another length. */
export const verifyEd25519Signature = (publicKey: Bytes, message: Bytes, signature: Bytes): Bool =>
  call(IRNative.verifyEd25519Signature, publicKey, message, signature)
export const blake2b224 = (bytes: Bytes): Bytes => call(IRNative.blake2b_224, bytes)
export const blake2b256 = (bytes: Bytes): Bytes => call(IRNative.blake2b_256, bytes)
/** A number from its big-endian bytes. */
export const byteStringToInteger = (bytes: Bytes): Int =>
  call(IRNative.byteStringToInteger, boolean(true), bytes)
/** A number as big-endian bytes, filled up to `length`; fails if it does not fit, or is negative. */
export const integerToByteString = (length: number, value: Int): Bytes =>
  call(IRNative.integerToByteString, boolean(true), integer(length), value)

export const integer = (value: number | bigint): Int => pInt(value)
export const bytes = (value: Uint8Array): Bytes => pByteString(value)
export const boolean = (value: boolean): Bool => pBool(value)
export const unitValue = (): Unit => pmakeUnit()
export const emptyConstr = (index: number): Data => pData(new DataConstr(index, []))
export const fail = <T extends PType>(): Term<T> => perror(data) as Term<PType> as Term<T>

const noData = (): List => call(IRNative.mkNilData, unitValue())
export const noEntries = (): Entries => call(IRNative.mkNilPairData, unitValue())

export const listOf = (...items: readonly Data[]): List =>
  items.reduceRight((rest, item) => prepend(item, rest), noData())
export const mapOf = (key: Data, value: Data): Data =>
  mapData(call(IRNative.mkCons, mkPairData(key, value), noEntries()))
export const prepend = <T extends PData | PPair<PData, PData>>(
  item: Term<T>,
  rest: Term<PList<T>>,
): Term<PList<T>> => call(IRNative.mkCons, item, rest)
