import type { Scene } from './scene.js'

/** The further requests to an audit. */
interface Asked {
  /** Ids of accepted transactions. */
  readonly accepted?: readonly string[]
}

/** A defect, its kind of finding or `unchecked` if it hides something, and its way into an honest rollup. */
export type Planted = readonly [
  name: string,
  code: string,
  plant: (scene: Scene) => Promise<Asked | undefined> | Promise<void>,
]
