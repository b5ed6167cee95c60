import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Pages } from './controls.js'
import { Empty, Load } from './parts.js'

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
