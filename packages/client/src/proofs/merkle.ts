import type { ProofStep } from '../api.js'
import { blake2b } from './blake2b.js'
import { fromHex, toHex } from './hex.js'

/*
 * Merkle Patricia Forestry (https://github.com/aiken-lang/merkle-patricia-forestry). Everything is hex: a
 * path is the 64 digits of the Blake2b-256 of a key, so that a digit is a nibble.
 */

const pathLength = 64
const nothing = '00'.repeat(32)

/** The proof claims what no map can have. */
export class MalformedProof extends Error {}

/** A step with its place: its prefix is the digits `depth` to `fork`, its children differ in digit `fork`. */
interface Placed {
  readonly step: ProofStep
  readonly depth: number
  readonly fork: number
}

/** The root of the map with the key's value (or absence), by the proof; in hex. Throws MalformedProof. */
export function rootOf(key: string, value: string | undefined, proof: readonly ProofStep[]): string {
  const path = hash(key)
  let next = 0
  const steps = proof.map((step): Placed => {
    const depth = next
    const fork = depth + step.skip
    check(Number.isInteger(step.skip) && step.skip >= 0 && fork < pathLength, 'a skip exceeds the path')
    next = fork + 1
    return { step, depth, fork }
  })
  let node = value === undefined ? nothing : leaf(path.slice(next), hash(value))
  const last = steps.at(-1)
  if (value === undefined && last !== undefined && last.step.type !== 'branch') {
    // Without the key, the neighbour is the only child and takes the place of the branch.
    node = neighborOf(last, path, last.depth).hash
    steps.pop()
  }
  for (const placed of steps.reverse()) {
    const { depth, fork, step } = placed
    const at = Number.parseInt(path.charAt(fork), 16)
    const merkle =
      step.type === 'branch'
        ? above(node, at, step.neighbors)
        : overTwo(node, at, neighborOf(placed, path, fork + 1))
    node = branch(path.slice(depth, fork), merkle)
  }
  return node
}

/** The other child of a step: its nibble, and its hash if its prefix or path starts at digit `from`. */
function neighborOf({ step, fork }: Placed, path: string, from: number): { at: number; hash: string } {
  const { neighbor = {} } = step
  if (step.type === 'leaf') {
    const key = digits(neighbor.key, pathLength)
    // Otherwise the proof could put the leaf of another place here.
    check(
      key.slice(0, fork) === path.slice(0, fork) && key[fork] !== path[fork],
      'a leaf is not beside the path',
    )
    return {
      at: Number.parseInt(key.charAt(fork), 16),
      hash: leaf(key.slice(from), digits(neighbor.value, 64)),
    }
  }
  check(step.type === 'fork', 'a step is not a branch, a fork or a leaf')
  const { nibble = -1, prefix = '' } = neighbor
  check(Number.isInteger(nibble) && nibble >= 0 && nibble < 16, 'a nibble is not from 0 to 15')
  check(/^(0[0-9a-f])*$/.test(prefix), 'a prefix is not of nibbles')
  check(nibble !== Number.parseInt(path.charAt(fork), 16), 'a fork is not beside the path')
  check(fork + 1 + prefix.length / 2 < pathLength, 'a prefix exceeds the path')
  const whole = path.slice(0, fork) + nibble.toString(16) + prefix.replace(/0(.)/g, '$1')
  return { at: nibble, hash: branch(whole.slice(from), digits(neighbor.root, 64)) }
}

/** The remaining path has a digit of its own in front if their number is odd. */
function leaf(path: string, valueHash: string): string {
  return hash((path.length % 2 === 0 ? 'ff' : '000') + path + valueHash)
}

function branch(prefix: string, merkle: string): string {
  return hash(prefix.replace(/./g, '0$&') + merkle)
}

/** The Merkle root of sixteen children, from one of them and its four siblings, the half of eight first. */
function above(child: string, at: number, neighbors: string | undefined): string {
  const siblings = digits(neighbors, 4 * 64)
  let node = child
  for (let level = 0; level < 4; level++) {
    const sibling = siblings.slice((3 - level) * 64, (4 - level) * 64)
    node = hash((at >> level) & 1 ? sibling + node : node + sibling)
  }
  return node
}

/** The Merkle root of sixteen children of which two are there. */
function overTwo(child: string, at: number, neighbor: { at: number; hash: string }): string {
  let level = Array.from({ length: 16 }, (_, i) =>
    i === at ? child : i === neighbor.at ? neighbor.hash : nothing,
  )
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) => hash(`${level[2 * i]}${level[2 * i + 1]}`))
  }
  return level[0] ?? nothing
}

function hash(hex: string): string {
  return toHex(blake2b(fromHex(hex), 32))
}

function digits(value: string | undefined, length: number): string {
  check(value?.length === length && /^[0-9a-f]*$/.test(value), `a part does not have ${length} hex digits`)
  return value as string
}

function check(condition: boolean, what: string): void {
  if (!condition) throw new MalformedProof(what)
}
