import { BlockError } from './errors.js'

/**
 * A grammar: it yields how many bytes it needs next and is given exactly these, and returns at its end.
 */
export type Grammar<Result> = Generator<number, Result, Uint8Array>

/** A grammar that is fed with pieces of any size, as they come from a connection or a table. */
export interface Feed<Result> {
  /**
   * Goes on as far as these bytes lead.
   *
   * @throws {BlockError} as soon as no continuation could be right; bytes behind the end are one such case
   */
  push(piece: Uint8Array): void
  /**
   * What the grammar returned.
   *
   * @throws {BlockError} where it has not come to its end
   */
  end(): Result
}

/** @param maxBytes more than this is too large, whatever it is */
export function createFeed<Result>(grammar: Grammar<Result>, maxBytes: number): Feed<Result> {
  let waiting: Uint8Array[] = []
  let available = 0
  let taken = 0
  let step = grammar.next()

  /** `need` bytes off the front: a view where they lie in one piece. */
  function take(need: number): Uint8Array {
    const [first = new Uint8Array(0)] = waiting
    const whole = first.length >= need ? first : Uint8Array.from(Buffer.concat(waiting, available))
    if (whole === first) waiting[0] = first.subarray(need)
    else waiting = [whole.subarray(need)]
    if (waiting[0]?.length === 0) waiting.shift()
    available -= need
    taken += need
    return whole.subarray(0, need)
  }

  return {
    push(piece) {
      if (piece.length === 0) return
      if (taken + available + piece.length > maxBytes)
        throw new BlockError('BODY_TOO_LARGE', `more than ${maxBytes} bytes`)
      waiting.push(piece)
      available += piece.length
      while (!step.done && available >= step.value) step = grammar.next(take(step.value))
      if (step.done && available > 0)
        throw new BlockError('BODY_MALFORMED', `bytes behind the end, from byte ${taken} on`)
    },

    end() {
      if (!step.done) throw new BlockError('BODY_MALFORMED', `cut short after ${taken + available} bytes`)
      return step.value
    },
  }
}
