import type { Submission } from './submission.js'
import type { Outcome } from './validator.js'

/** What is told while validation works: the source of statistics and logs. */
export interface ValidationObserver {
  /** What became of a delivery is durable. */
  settled(submission: Submission, outcome: Outcome): void
  batch(milliseconds: number): void
  /** The node could not judge a submission: a defect of its own. */
  failed(submission: Submission, error: unknown): void
  storeAway(error: Error): void
  storeBack(): void
}
