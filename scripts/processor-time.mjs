// Processor time of processes with the children that they waited for. Preloaded into a process that
// `spawnMeasured` starts, reports its processor time when it exits.
import { spawn } from 'node:child_process'
import { readFileSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** The file descriptor on which a process reports. */
const channel = 3
/** Holds the process id of the measuring process, which is not the parent of a measured one's children. */
const measuredBy = 'RATATOSK_MEASURED_BY'
/** Clock ticks in a second, in /proc. */
const ticks = 100

/** User and system time so far, in seconds, of this process and of its children that have ended. */
export function processorSeconds() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + childrenSeconds()
}

/** 0 where there is no /proc. */
function childrenSeconds() {
  try {
    // The fields after the name, which may contain spaces. 13 and 14 are `cutime` and `cstime`.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / ticks
  } catch {
    return 0
  }
}

/** Starts a program of Node.js; returns it, and its processor seconds once closed: 0 after a signal. */
export function spawnMeasured(args, { env = process.env, stdio, ...options }) {
  const child = spawn(process.execPath, [`--import=${import.meta.url}`, ...args], {
    ...options,
    env: { ...env, [measuredBy]: `${process.pid}` },
    stdio: [...stdio, 'pipe'],
  })
  let reported = ''
  child.stdio[channel].setEncoding('utf8').on('data', (text) => {
    reported += text
  })
  return { child, seconds: () => Number(reported) }
}

if (isMainThread && process.env[measuredBy] === `${process.ppid}`)
  process.on('exit', () => writeSync(channel, processorSeconds().toFixed(3)))
