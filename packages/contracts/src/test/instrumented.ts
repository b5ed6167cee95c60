import type { ValidatorTitle } from '../script/blueprint.js'
import { instrumentedBuild } from './instrumented-build.js'
import { createWorld, type World, type WorldOptions } from './world.js'

/** A validator that traces the rules it evaluates and can skip one. Compiling it takes seconds. */
export interface Instrumented {
  /** The names of the rules, in the order of evaluation. */
  readonly rules: readonly string[]
  /** The world with the validator in place of the published one; `rule` is skipped. */
  without(rule?: string, options?: WorldOptions): World
}

export function instrument(title: ValidatorTitle): Instrumented {
  const { program, rules } = instrumentedBuild(title)
  const worlds = new Map<string, World>()
  return {
    rules,
    without(rule, options) {
      const place = rule === undefined ? -1 : rules.indexOf(rule)
      if (rule !== undefined && place < 0) throw new RangeError(`There is no rule ${rule}`)
      const create = () =>
        createWorld({ ...options, variants: { [title]: { program, leading: [BigInt(place)] } } })
      if (options !== undefined) return create()
      const world = worlds.get(rule ?? '') ?? create()
      worlds.set(rule ?? '', world)
      return world
    },
  }
}
