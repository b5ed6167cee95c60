import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { describe, test } from 'vitest'

/**
 * Describes tests that read collections of test data. Where one is absent, a skipped test stands for them.
 */
export function describeVectors(
  names: readonly string[],
  title: string,
  body: (...folders: string[]) => void,
): void {
  const folders = names.map(vectorsFolder).filter((folder) => folder !== undefined)
  if (folders.length === names.length) describe(title, () => body(...folders))
  else test.skip(title, () => {})
}
