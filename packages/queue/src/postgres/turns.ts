/** Lets one statement run at a time: urgent ones before others, else in the order in which they came. */
export class Turns {
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #taken = false

  async take<Result>(urgent: boolean, statement: () => Promise<Result>): Promise<Result> {
    if (this.#taken) {
      await new Promise<void>((begin) => {
        const line = urgent ? this.#urgent : this.#others
        line.push(begin)
      })
    }
    this.#taken = true
    try {
      return await statement()
    } finally {
      const next = this.#urgent.shift() ?? this.#others.shift()
      // Whoever is next has the turn already: nobody who comes in between may take it.
      if (next === undefined) this.#taken = false
      else next()
    }
  }
}
