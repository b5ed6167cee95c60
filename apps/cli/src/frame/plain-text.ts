// Strangers write what a node quotes: a terminal must not obey it.

/** Text without control characters other than line ends and tabs. */
export const plain = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, ' ')

/** Text without any control character, so that it cannot begin a line of its own. */
export const oneLine = (text: string): string => text.replace(/\p{Cc}/gu, ' ')
