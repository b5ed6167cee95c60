import type { Scene } from './scene.js'

/** What is asked of an audit besides. */
interface Asked {
  /** Ids of accepted transactions. */
  readonly accepted?: readonly string[]
}

/**
 * A defect, the kind of finding that it must give, or `unchecked` if it hides what would be compared, and how
 * it comes into an honest rollup.
 */
export type Planted = readonly [
  name: string,
  code: string,
  plant: (scene: Scene) => Promise<Asked | undefined> | Promise<void>,
]
