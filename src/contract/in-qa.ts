/** Whether a value of `in_qa`, on the wire or as the setting `IN_QA`, means on: these three words do, and nothing else. */
export function isInQa(text: string): boolean {
  return ['true', 'True', '1'].includes(text);
}
