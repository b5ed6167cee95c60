import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { describe, test } from 'vitest'

/** Describes tests that read collections of test data. A skipped test stands for an absent one. */
export function describeVectors(
  names: readonly string[],
  title: string,
  body: (...folders: string[]) => void,
): void {
  const folders = names.map(vectorsFolder).filter((folder) => folder !== undefined)
  if (folders.length === names.length) describe(title, () => body(...folders))
  else test.skip(title, () => {})
}
