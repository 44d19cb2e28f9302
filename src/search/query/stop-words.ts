/**
 * Words of requests and catalogues without information about the request. They are rare in descriptions, so their
 * weight would be large.
 */
export const stopWords: ReadonlySet<string> = new Set(
  [
    'a an the this that these those some any all each every such other another same own',
    'i me my mine myself we us our ours you your yours he him his she her it its they them their theirs',
    'who whom whose which what when where why how whether',
    'am is are was were be been being do does did doing done have has had having',
    'can could will would shall should may might must ought cannot',
    's t m d re ll ve',
    'and or but nor so yet if then than because as until while although though since unless',
    'of at by for with without about against between into through during before after above below',
    'to from up down in out on off over under again further once within upon per via',
    'here there now just only also too very more most much many few less least no not',
    'please help assist show tell give find look looking want wants wanted need needs needed like',
    'let get got know trying try using use used make provide suggest recommend wondering interested',
    'today tonight tomorrow yesterday currently soon later',
    'gimme lemme wanna gonna gotta dunno kinda pls plz thx lol btw thingy',
    'hi hello hey thanks thank ok okay yes able possible way ways something someone anything',
    'agent agents tool tools mcp server servers',
  ]
    .join(' ')
    .split(' '),
)
