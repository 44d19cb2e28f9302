/**
 * JSON whose text commands no terminal and hides nothing in it: controls, bidi controls and invisible characters as
 * \uXXXX. JSON itself escapes C0 controls only. The data does not change; line breaks stay.
 */
export function escapeHidden(json: string): string {
  return json.replace(/[[\p{Control}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--\n]/gv, (character) =>
    character.split('').map(escapeUnit).join(''),
  )
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
