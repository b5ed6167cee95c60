import { useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { AnswerError, read } from './api.js'
import { clockTime, duration, short } from './format.js'
import { link } from './router.js'
import { now, version } from './store.js'

/** A shortened name, which a click copies. */
export function Name({ name, page }: { readonly name: string; readonly page?: string }) {
  const copied = useSignal(false)
  const copy = async () => {
    await navigator.clipboard?.writeText(name)
    copied.value = true
    window.setTimeout(() => {
      copied.value = false
    }, 1200)
  }
  return (
    <span class="name" title={name}>
      {page === undefined ? (
        <code>{short(name)}</code>
      ) : (
        <a href={link(page, name)}>
          <code>{short(name)}</code>
        </a>
      )}
      <button type="button" class="copy" aria-label={`Copy ${name}`} onClick={copy}>
        {copied.value && 'copied'}
      </button>
    </span>
  )
}

/** A time, and how long ago it was. */
export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {duration(now.value - Date.parse(at))} ago
    </time>
  )
}

export function Time({ at }: { readonly at: string }) {
  return <time dateTime={at}>{clockTime(at, now.value)}</time>
}

/** Time until a moment. */
export function Countdown({ to }: { readonly to: string }) {
  const left = Date.parse(to) - now.value
  return <span class="countdown">{left > 0 ? duration(left) : 'now'}</span>
}

export function State({ state }: { readonly state: string }) {
  return <span class={`state ${state}`}>{state}</span>
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

interface Loaded<T> {
  readonly path: string
  /** Shows the answer. */
  readonly show: (answer: T) => ComponentChildren
  /** Shows what the node has instead. */
  readonly otherwise?: (message: string) => ComponentChildren
}

/** What the node answers under a path; read again when something has changed. */
export function Load<T>({ path, show, otherwise }: Loaded<T>) {
  const answer = useSignal<T | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  useSignalEffect(() => {
    void version.value
    read<T>(path).then(
      (found) => {
        answer.value = found
        problem.value = undefined
      },
      (error: unknown) => {
        // While the node cannot be reached, the last answer stays.
        if (error instanceof AnswerError) problem.value = error.message
      },
    )
  })
  if (problem.value !== undefined)
    return otherwise ? otherwise(problem.value) : <Empty>{problem.value}</Empty>
  return answer.value === undefined ? <Empty>Reading…</Empty> : show(answer.value)
}
