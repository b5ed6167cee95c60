/** Writes numbered steps, and lines under them. */
export interface Story {
  title(text: string): void
  step(text: string): void
  say(text: string): void
}

export function createStory(write: (text: string) => void): Story {
  let steps = 0
  return {
    title: (text) => write(`\n  ${text}\n`),
    step(text) {
      steps += 1
      write(`\n  ${steps}. ${text}\n`)
    },
    say: (text) => write(`     ${text}\n`),
  }
}
