import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { asksToken, token } from './api.js'
import { Empty, Load } from './parts.js'

/** Errors of CIP-30 have `info` in place of a message. */
function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'info' in error) return String(error.info)
  return error instanceof Error ? error.message : String(error)
}

/** Work that a person starts: whether it runs, and why it has failed. */
export function useAction() {
  const runs = useSignal(false)
  const problem = useSignal('')
  const run = async (work: () => Promise<unknown>) => {
    runs.value = true
    problem.value = ''
    try {
      await work()
    } catch (error) {
      problem.value = messageOf(error)
    }
    runs.value = false
  }
  return { runs, problem, run }
}

/** Why work has failed, or what it is for. */
export function Outcome({
  problem,
  children,
}: {
  readonly problem: string
  readonly children?: ComponentChildren
}) {
  return (
    <span class={problem === '' ? 'dim' : 'bad'} role="status">
      {problem || children}
    </span>
  )
}

/** Asks for the operator token once the node wants it. It is sent in a header and kept in memory only. */
export function Token() {
  if (!asksToken.value) return null
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        const typed = new FormData(event.currentTarget).get('token')
        token.value = typeof typed === 'string' ? typed : ''
        asksToken.value = false
      }}
    >
      <label>
        Operator token <input name="token" type="password" autoComplete="off" required maxLength={1000} />
      </label>
      <button type="submit" class="main">
        Use it
      </button>
      <span class="dim">It stays in this page until you close it.</span>
    </form>
  )
}

interface TwiceProps {
  readonly label: string
  /** The subject in the label, for those who do not see the row. */
  readonly subject: string
  readonly isDisabled?: boolean
  readonly run: () => void
}

/** A button whose second click does the work. */
export function Twice({ label, subject, isDisabled = false, run }: TwiceProps) {
  const isSure = useSignal(false)
  return (
    <button
      type="button"
      class={isSure.value ? 'small main' : 'small'}
      disabled={isDisabled}
      aria-label={isSure.value ? `Confirm: ${label} ${subject}` : `${label} ${subject}`}
      onBlur={() => {
        isSure.value = false
      }}
      onClick={() => {
        if (isSure.value) run()
        isSure.value = !isSure.value
      }}
    >
      {isSure.value ? `${label}: sure?` : label}
    </button>
  )
}

interface PagesProps {
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly move: (by: -1 | 1) => void
}

/** Moves between the parts of a list. */
export function Pages({ isFirst, isLast, move }: PagesProps) {
  if (isFirst && isLast) return null
  return (
    <nav class="pages" aria-label="Parts of the list">
      <button type="button" disabled={isFirst} onClick={() => move(-1)}>
        Earlier
      </button>
      <button type="button" disabled={isLast} onClick={() => move(1)}>
        Later
      </button>
    </nav>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly name: string
  readonly values: readonly string[]
  /** Default: the first. */
  readonly chosen?: string
}

/** A field of a form that has one of a few values. */
export function Choice({ label, name, values, chosen = values[0] }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select name={name}>
        {values.map((value) => (
          <option key={value} selected={value === chosen}>
            {value}
          </option>
        ))}
      </select>
    </label>
  )
}

interface PagedProps<T> {
  /** With a query, to which the part of the list is added as Blockfrost names it. */
  readonly path: string
  readonly pageSize: number
  /** As in {@link Load}. */
  readonly isSlow?: boolean
  /** The `id` of the list. */
  readonly id: string
  /** The text of an empty part. */
  readonly end: string
  readonly show: (entry: T) => ComponentChildren
}

/** A list of Blockfrost's API, part by part. */
export function Paged<T>({ path, pageSize, isSlow = false, id, end, show }: PagedProps<T>) {
  const page = useSignal(1)
  return (
    <Load<readonly T[]>
      path={`${path}&count=${pageSize}&page=${page.value}`}
      isSlow={isSlow}
      show={(list) => (
        <>
          {list.length === 0 && <Empty>{end}</Empty>}
          <ul class="list" id={id}>
            {list.map(show)}
          </ul>
          <Pages
            isFirst={page.value === 1}
            isLast={list.length < pageSize}
            move={(by) => {
              page.value += by
            }}
          />
        </>
      )}
    />
  )
}
