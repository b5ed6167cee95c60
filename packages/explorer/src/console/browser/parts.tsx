import { useSignal, useSignalEffect } from '@preact/signals'
import type { BridgeDeposits, ExplorerBlock } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { createReading, read } from './api.js'
import { clockTime, duration, short } from './format.js'
import { bridge, hasPage, link } from './router.js'
import { now, readSlowly, slowVersion, version } from './store.js'

/** A shortened name, which a click copies; a link to its page if this node has what the page needs. */
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
      {page === undefined || !hasPage(page) ? (
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

/** Content wider than the page. Those who use a keyboard can scroll it too. */
export function Scroll({
  label,
  children,
}: {
  readonly label: string
  readonly children: ComponentChildren
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1, a region that scrolls needs the focus
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

interface TableProps {
  readonly label: string
  readonly id?: string
  /** Each different. */
  readonly heads: readonly string[]
  /** The key, the cells in the order of the heads, and attributes of each row. */
  readonly rows: readonly {
    readonly key: string | number
    readonly cells: readonly ComponentChildren[]
    readonly [attribute: `data-${string}`]: string | number | undefined
  }[]
}

/** A table; on a phone, each row is a card whose cells name their heads. */
export function Table({ label, id, heads, rows }: TableProps) {
  return (
    <Scroll label={label}>
      <table id={id}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head}>{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells, ...attributes }) => (
            <tr key={key} {...attributes}>
              {heads.map((head, at) => (
                <td key={head} data-head={head}>
                  {cells[at]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** Text as it is, which may be long. */
export function Text({ children }: { readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1, a region that scrolls needs the focus
    <pre tabIndex={0}>{children}</pre>
  )
}

interface Loaded<T> {
  readonly path: string
  readonly show: (answer: T) => ComponentChildren
  /** The text in place of the node's message for what it does not have. */
  readonly otherwise?: (message: string) => ComponentChildren
  /** Default: {@link read}. */
  readonly by?: (path: string) => Promise<T>
  /** Whether it is read again at most every 5 s, because it takes much. */
  readonly isSlow?: boolean
  /** Whether an answer cannot change any more: then it is kept. */
  readonly isFinal?: (answer: T) => boolean
}

/** Milliseconds after which a failed request is repeated. */
const repeatMs = 5000

/** Changes on layer 1 make no event: while this page is open, slow requests repeat every 5 s. */
export function useLayer1Polls() {
  useEffect(() => {
    const timer = window.setInterval(readSlowly, 5000)
    return () => window.clearInterval(timer)
  }, [])
}

/** The node's answer under a path; read again after a change. */
export function Load<T>(loaded: Loaded<T>) {
  // Another path is another reading.
  return <Reading key={loaded.path} {...loaded} />
}

function Reading<T>({ path, show, otherwise, by = read, isSlow = false, isFinal }: Loaded<T>) {
  const [{ answer, problem, take }] = useState(() => createReading<T>())
  const failures = useSignal(0)
  useSignalEffect(() => {
    void (isSlow ? slowVersion : version).value
    const known = answer.peek()
    void failures.value
    if (known !== undefined && isFinal?.(known)) return
    let later: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    take(by(path)).then((isWorthAnother) => {
      if (isWorthAnother && !isOver) later = setTimeout(() => failures.value++, repeatMs)
    })
    return () => {
      isOver = true
      clearTimeout(later)
    }
  })
  const error = problem.value
  if (error !== undefined)
    return otherwise && error.status === 404 ? otherwise(error.message) : <Empty>{error.message}</Empty>
  return answer.value === undefined ? <Empty>Reading…</Empty> : show(answer.value)
}

interface Step {
  readonly name: string
  readonly at: string | undefined
  /** When it is expected, if that is known. */
  readonly expected?: string | undefined
}

/** The steps from acceptance to the confirmed state, with their times. */
export function Journey({
  acceptedAt,
  block,
}: {
  readonly acceptedAt?: string
  readonly block?: ExplorerBlock
}) {
  const times = block?.times
  const steps: Step[] = [
    ...(acceptedAt === undefined ? [] : [{ name: 'accepted', at: acceptedAt }]),
    { name: 'built', at: times?.built },
    { name: 'submitted', at: times?.submitted },
    { name: 'committed', at: times?.committed },
    { name: 'mature', at: times?.mature, expected: block?.maturesAt },
    { name: 'merged', at: times?.merged },
    ...(times?.removed ? [{ name: 'removed', at: times.removed }] : []),
  ]
  return (
    <ol class="journey">
      {steps.map(({ name, at, expected }, position) => (
        <li key={name} class={at === undefined ? '' : 'done'} data-step={name} data-at={at}>
          <strong>{name}</strong>
          {at !== undefined && <Time at={at} />}
          {at === undefined && expected !== undefined && (
            <small>
              in <Countdown to={expected} />
            </small>
          )}
          <small>{sincePrevious(steps, position)}</small>
        </li>
      ))}
    </ol>
  )
}

/** Time since the newest earlier step that has one. */
function sincePrevious(steps: readonly Step[], position: number): string {
  const at = steps[position]?.at
  const before = steps.slice(0, position).findLast((step) => step.at !== undefined)?.at
  if (at === undefined || before === undefined) return ''
  return `+${duration(Date.parse(at) - Date.parse(before))}`
}

interface DepositedProps {
  readonly id: string
  /** The text for an id that no deposit has. */
  readonly otherwise: ComponentChildren
}

/** Says what an id names that no transaction has, if it is that of a deposit from layer 1. */
export function Deposited({ id, otherwise }: DepositedProps) {
  if (bridge.value === undefined) return <>{otherwise}</>
  return (
    <Load<BridgeDeposits>
      path={`deposits?id=${id}`}
      isSlow
      isFinal={({ deposits: [found] }) => found?.state === 'merged'}
      show={({ deposits: [found] }) =>
        found === undefined ? (
          otherwise
        ) : (
          <span data-deposit={id}>
            a{' '}
            <a class="inline" href={link('bridge')}>
              deposit
            </a>{' '}
            from layer 1 <State state={found.state} />
            {found.height !== undefined && (
              <>
                {' '}
                in{' '}
                <a class="inline" href={link('block', String(found.height))}>
                  block {found.height}
                </a>
              </>
            )}
          </span>
        )
      }
      otherwise={() => otherwise}
    />
  )
}
