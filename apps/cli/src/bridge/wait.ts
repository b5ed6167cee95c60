import { setTimeout as pause } from 'node:timers/promises'
import { CommandError } from '../frame/errors.js'

const pollMs = 1000

/** Asks again and again until there is an answer. @throws CommandError after `timeoutMs` */
export async function reached<T>(
  what: string,
  timeoutMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  for (const end = performance.now() + timeoutMs; ; ) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() >= end)
      throw new CommandError('CLI_TIMEOUT', `The command waited ${timeoutMs / 1000} s until ${what}.`)
    await pause(pollMs)
  }
}
