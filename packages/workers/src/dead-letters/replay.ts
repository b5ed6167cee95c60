import type { Store } from '@ratatosk/store'

/** What takes a transaction back into the queue: `createSubmissionQueue` makes one. */
export interface ReplayQueue {
  add(cbor: Uint8Array): Promise<string>
}

/**
 * Submits a dead letter again and takes it out of the dead letters, in this order: between the two it is in both, never
 * in neither.
 *
 * @param submissionId of the dead letter
 * @returns the id of the new submission; `undefined` where there is no such dead letter
 * @example
 * const id = await replayDeadLetter('Fk3x…-2a', { store, submissions })
 */
export async function replayDeadLetter(
  submissionId: string,
  { store, submissions }: { readonly store: Pick<Store, 'rejections'>; readonly submissions: ReplayQueue },
): Promise<string | undefined> {
  const rejection = await store.rejections.find(submissionId)
  if (rejection === undefined) return undefined
  const id = await submissions.add(rejection.cbor)
  await store.rejections.remove(submissionId)
  return id
}
