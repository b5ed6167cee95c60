import { readFileSync } from 'node:fs'
import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import {
  type Figures,
  longer,
  noTurn,
  type Turn,
} from '../../../../../packages/follower/dist/test/hostile/figures.js'
import { type NodeProcess, spawnNode } from '../node-process.js'

/** A node with a heap of 512 MiB that measures itself. */
export interface AttackedNode extends NodeProcess {
  readonly name: string
  /** Waits until its log has a line. */
  logs(pattern: RegExp, timeoutMs: number): Promise<void>
  /** @param collects whether it collects garbage for them */
  figures(collects?: boolean): Promise<Figures>
  /** The longest turn of all figures so far, and the largest resident size seen. */
  readonly worst: { readonly turn: Turn; readonly wall: number; readonly rss: number }
}

const probe = new URL('./probe.js', import.meta.url).href

export async function spawnAttacked(
  t: Test,
  name: string,
  environment: Readonly<Record<string, string>>,
): Promise<AttackedNode> {
  const options = `--max-old-space-size=512 --import ${probe}`
  const node = await spawnNode(t, { ...environment, NODE_OPTIONS: options })
  const worst = { turn: noTurn, wall: 0, rss: 0 }
  const looking = setInterval(() => {
    const text = readFileSync(`/proc/${node.pid}/status`, 'utf8')
    worst.rss = Math.max(worst.rss, 1024 * Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0))
  }, 100)
  t.teardown(() => clearInterval(looking))
  let asked = 0
  /** Waits until its output has a line. It is long, and read only if there is more of it. */
  async function shows(pattern: RegExp, timeoutMs: number): Promise<void> {
    let seen = 0
    const hasLine = () => {
      const text = node.output()
      const isLonger = text.length > seen
      seen = text.length
      return isLonger && pattern.test(text)
    }
    await until(hasLine, { what: `${name} writes ${pattern}`, timeoutMs })
  }
  return {
    ...node,
    name,
    worst,

    async logs(pattern, timeoutMs) {
      await shows(pattern, timeoutMs).catch((error: Error) => {
        throw new Error(`${error.message}; its last lines: ${node.output().slice(-2000)}`)
      })
    },

    async figures(collects = false) {
      const line = new RegExp(`^figures ${++asked} (\\{.*\\})$`, 'm')
      process.kill(node.pid, collects ? 'SIGIO' : 'SIGUSR2')
      await shows(line, 60_000)
      const figures: Figures = JSON.parse(line.exec(node.output())?.[1] ?? '')
      worst.turn = longer(worst.turn, figures.turn)
      worst.wall = Math.max(worst.wall, figures.wall)
      return figures
    },
  }
}
