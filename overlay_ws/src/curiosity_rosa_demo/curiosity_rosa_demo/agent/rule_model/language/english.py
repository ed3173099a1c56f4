# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The English words of the grammar: tags and their phrases, separated by bars. Data.

A phrase may have several tags: ``GO+ING`` is a verb in the form that orders nothing by itself.
"""

WORDS = {
    'POLITE': (
        'can you|could you|would you|will you|would you mind|can you please|could you please|'
        'would you please|i want you to|could i have|can i have|may i have|may i ask you to|'
        'can we|could we|would you kindly|could you kindly|can i get|could i get|'
        'could you just|would you be so kind as to|can you just'
    ),
    'ASK': '?',
    'START': (
        'would you mind|start|begin|start to|begin to|begin with|start with|start by|begin by|'
        'go|do some|do some more|do a bit of'
    ),
    'WAIT ': 'give it',
    'BE': "is|are|has|gets|has got|it is|it's",
    'FILLER': (
        "is like|help me|help us|help me to|i want a|i want an|i need a|i need an|i'd like a|"
        "i would like a|i would like an|i'd like an|i want to have a|what|put|would you please|"
        "that you see|of what you see|see|what you see|time|rover's|it's time|want|need|have|"
        'a good|conditions|into|let|there is time|each|and also|an additional|get|of course|'
        'surely|once you can|please|pls|kindly|now|right now|immediately|at once|just|rover|'
        'the rover|curiosity|rosa|hey|hi|hello|ok|okay|alright|all right|well|so|also|the|to|'
        'of|for|at|by|in|on|with|your|its|my|our|me|it|you|us|about|approximately|roughly|'
        "exactly|i would like you to|i'd like you to|i need you to|we need you to|"
        "we want you to|want you to|let's|let us|your job is to|your task is to|go ahead and|"
        'proceed to|be so kind as to|be so kind and|if you would|if you please|if you can|'
        'if possible|thanks|thank you|thank you very much|a bit|a little|a little bit|some|'
        'this|that|these|here|where you are|more|another|extra|further|again please|try to|do|'
        'do a|make a|make|perform|perform a|execute|from here|from there|there|your way|first|'
        "first of all|finally|lastly|buddy|there is|you are|for me|for us|away|i'd like|good|"
        'quick|quickly|slowly|carefully|nice|be|an|i ask you to|next|a distance of|an angle of|'
        'total|in total|towards|toward|toward the|onto|up to|possible|whole|entire|all the way|'
        'further on|sir|friend|give me|get me|give us|once more|again|the way|own|then please|'
        'near|close to you|near here|straight away|as well'
    ),
    'A': 'a|an|one single|single',
    'THEN': (
        'then|and then|after that|after which|afterwards|afterward|and after that|next|'
        'and next|and finally|then finally|once there|when you get there|when you arrive|'
        'when there|once you arrive|once you are there|on arrival|when you are there|when done|'
        'when you are done|once done|followed by|before finally|once you get there|;|->|=>|>|'
        'when that is done|once that is done|as soon as you arrive|and afterwards|'
        'and when you get there|and when you arrive|and once there|second|secondly|third|'
        'thirdly|lastly|to finish|and lastly|before you finally'
    ),
    'AND': 'and|and also|plus|as well as|and please|&',
    'COMMA': ',|.|:|(|)|!',
    'BUT': 'but|but instead|instead|rather|only|but only|but just|just instead',
    'BACKBEFORE': (
        'before that|before this|before you do that|before doing that|but first|'
        'but before that|beforehand|but before you do that|but before this'
    ),
    'BEFORE': 'before|before you|prior to',
    'AFTER': (
        'after|after you|after you have|once you have|when you have|once you|as soon as you'
    ),
    'NEG+SANS': 'without|rather than|instead of|except|skip|without any',
    'NEG': (
        "don't|dont|do not|never|not|no|avoid|but not|refrain from|please don't|forget about|"
        'leave out|you must not|you should not|no need to|nor|or'
    ),
    'CORRECT': (
        'no|no wait|no sorry|sorry no|wait no|i mean|no i mean|i meant|no i meant|sorry|oops|'
        'actually|no actually|actually no|or rather|correction|rather|no make that|make that|'
        'make it|no make it|no not that|my mistake|wait|hmm no|uh no|er no|well no|oh no|'
        'sorry i mean|sorry i meant|not left|not right|not forward|i mean to say|'
        "i meant to say|no that's wrong|that's wrong|on second thought|on second thoughts|"
        'wait i mean|wait actually|oh wait|no no|er|err|um no'
    ),
    'SCRATCH': (
        'scratch that|strike that|forget that|no scratch that|cancel that|ignore that|'
        'no forget that|undo that|disregard that|never mind that|scrap that|no strike that'
    ),
    'IF': (
        'if|in case|provided|provided that|as long as|should|only if|but only if|'
        "if and only if|when|whenever|if it is|if it's|if its|in the case that|given that"
    ),
    'UNLESS': 'unless',
    'ELSE': 'else|otherwise|if not|or else',
    'UNTIL': "until|till|until it is|until it's|until you find|until you see|until you reach",
    'DARK': (
        "dark|too dark|it is dark|it's dark|its dark|darkness|it is too dark|it's too dark|"
        "dark here|not bright|it is not bright|it isn't bright|it's not bright|"
        'not bright enough|dim|too dim|there is no light|there is not enough light|'
        "it gets dark|it gets too dark|no light|not enough light|there isn't enough light|"
        "it is dark here|it's dark here|it is too dark here|shady|shadowy"
    ),
    'BRIGHT': (
        "bright|it is bright|it's bright|bright enough|it is bright enough|it gets bright|"
        'it becomes bright|there is light|there is enough light|enough light|lit|sunny|'
        "well lit|it is light|it's light|not dark|it is not dark|it isn't dark|it's not dark|"
        'it is light enough|it gets light|it gets brighter|it is bright here|brighter|'
        "brightest|better lit|it's bright enough|it is bright around|not too dark|"
        'it is not too dark|well-lit'
    ),
    'GO': (
        'take me to|take me|bring me to|lead me to|get me to|take us to|take us|goto|go|drive|'
        'move|roll|head|travel|advance|proceed|continue|come|run|walk|steer|navigate|set off|'
        'make your way|take yourself|bring yourself|get|approach|keep going|keep driving|'
        'start driving|start moving|begin driving|drive on|go on|move on|cruise|get yourself|'
        'relocate|make for|veer|bear|keep moving|push|creep|inch|crawl|journey'
    ),
    'GO+ING': (
        'driven|moved|gone|driving|moving|going|rolling|heading|travelling|traveling|advancing|'
        'proceeding|navigating|you drive|you move|you go|you drive to|any movement|any driving|'
        'movement'
    ),
    'TURN': (
        'turn|rotate|spin|swivel|pivot|swing|make a turn|do a turn|take a turn|turn yourself|'
        'rotate yourself|turns|hang|take|a turn|bend|swerve|curve|yaw'
    ),
    'TURN+ING': (
        'turned|have turned|rotated|turning|rotating|spinning|you turn|pivoting|any turns'
    ),
    'FORWARD': (
        'forward|forwards|ahead|straight|straight ahead|straight on|straight forward|onward|'
        'onwards|in front|to the front|straight forwards|forth|ahead of you|in a straight line|'
        'move_forward|in front of you|straightforward|fwd|foward|forwad'
    ),
    'LEFT': (
        'left|leftward|leftwards|to the left|to your left|turn_left|anticlockwise|'
        'counterclockwise|counter-clockwise|anti-clockwise|on the left|on your left|left hand|'
        'lefthand|left-hand|port|left side|the left side|the left hand side|counter clockwise|'
        'lft|a left'
    ),
    'RIGHT': (
        'right|rightward|rightwards|to the right|to your right|turn_right|clockwise|'
        'on the right|on your right|right hand|right-hand|starboard|right side|the right side|'
        'the right hand side|rigth|rght|a right'
    ),
    'AROUND+SHOOT': 'panorama|a panorama|panoramic picture|panoramic photo',
    'AROUND': (
        'each facing a different way|facing a different way|in all directions|around|round|'
        'all around|around you|all around you|around yourself|about-face|'
        'in different directions|in each direction|in several directions|in every direction|'
        'in various directions|from all sides|around here|all round|in a circle|on all sides|'
        'on every side|round you|to all sides|different directions|around the rover|around us|'
        'the other way|the other way around|in the opposite direction|to face the other way|'
        'to face backwards|facing different directions|pointing in different directions|'
        'from different angles|at different angles|from different directions|'
        'of different directions|of all sides|each in a different direction'
    ),
    'UTURN': (
        'u-turn|u turn|a u-turn|uturn|turn around|turn round|turn about|about face|about turn|'
        'turn yourself around|face the other way|spin around|turn back around|'
        'turn to face the other way|face backwards|rotate half way|turn halfway around|'
        'turn half way around|make an about-face|do a 180|pull a 180|do a one-eighty|'
        'turn backwards'
    ),
    'SPIN': (
        'a full turn|full turn|a full circle|full circle|a full rotation|full rotation|'
        'a complete turn|a complete circle|once around|all the way around|all the way round|'
        'a complete rotation|one full turn|one full rotation|one full circle|a 360|'
        'one complete turn|in a full circle|full revolution|a full revolution'
    ),
    'ANGLE 180': (
        'half a turn|half turn|a half turn|half-turn|a half-turn|half way around|'
        'halfway around|half a circle|half a rotation|a half circle|half a revolution|'
        'one half turn'
    ),
    'ANGLE 90': (
        'a quarter turn|quarter turn|a quarter of a turn|quarter-turn|a right angle|'
        'right angle|a quarter|quarter of a turn|a quarter of a circle|a quarter circle|'
        'a quarter rotation|one quarter turn|one right angle|a quarter-turn'
    ),
    'BACKWARD': 'backward|backwards|reverse|in reverse|back up|rearwards|backing up',
    'TAKE': (
        'take|snap|shoot|capture|get|grab|make|record|grab me|take me|take us|collect|acquire|'
        'do|obtain'
    ),
    'TAKE+ING': (
        'taken|took|taking|snapping|capturing|shooting|you take|you shoot|recording|you capture'
    ),
    'PICTURE': (
        'picture|pictures|photo|photos|photograph|photographs|image|images|snapshot|snapshots|'
        'shot|shots|pic|pics|camera image|camera shot|photograph it|camera picture|snap|'
        'capture_and_score|photographs of|pictures of|frame|frames|selfie|photgraph|pitcure|'
        'picutre'
    ),
    'SHOOT': (
        'photograph|capture|capture now|snap away|capture an image|press the shutter|'
        'capture the scene|score the light|measure the light|measure the brightness'
    ),
    'SHOOT+ING': 'photographing|any pictures',
    'OPEN': (
        'open|raise|deploy|extend|lift|unfold|put up|erect|elevate|open up|lift up|raise up|up|'
        'opened|raised|deployed|extended|mast_open|pop up|stick up|bring up'
    ),
    'OPEN+ING': 'opening|raising|deploying|you open|you raise|extending|lifting|unfolding',
    'CLOSE': (
        'close|lower|stow|retract|fold|put down|put away|down|fold down|fold away|fold up|shut|'
        'closed|stowed|lowered|retracted|mast_close|bring down|take down|fold in|pull in|'
        'tuck away|tuck in|collapse|pack away|pack up|folded|shut down|drop'
    ),
    'CLOSE+ING': 'closing|lowering|stowing|retracting|you close|you lower|you stow|folding',
    'MAST': (
        'mast|the mast|camera mast|the camera mast|sensor mast|mast of the camera|head|'
        'camera head|periscope'
    ),
    'CAMERA': 'camera|the camera|cameras',
    'LOOK': (
        'look around|have a look around|take a look around|look about|look around you|'
        'mast_rotate|look in all directions|look all around|look round|scan around|'
        'have a look round|look everywhere|pan around|take a look around you|look around here|'
        'glance around|look to all sides|pan the camera|rotate your head'
    ),
    'FIND': (
        'find|look for|search for|search|seek|seek out|locate|discover|hunt for|get to|reach|'
        'go find|go and find|find your way|hunt|find and go|find me|spot'
    ),
    'FIND+ING': 'finding|looking for|searching for|searching',
    'SHADE': (
        'shade|shadow|the dark|darkness|out of the shade|out of the shadow|out of the dark|'
        'leave the shade|shadows|dark area|dark place|dark spot'
    ),
    'LIGHT': (
        'the sun shines|light|lights|sunlight|sun|sunshine|lit area|lighted area|light area|'
        'lit ground|daylight|illumination|source of light|light source|lit place|lit spot|'
        'brightness|illuminated area|illuminated place|illuminated spot|illuminated|sunlit|'
        'sunlit area|brightly lit|the light source|where the sun shines|where the light is|'
        'well lit|well-lit'
    ),
    'PLACE': (
        "place|area|spot|somewhere|where it is|where it's|where there is|location|region|zone|"
        'ground|patch|side|a place|part|where|place where|point|position|coordinates|'
        'coordinate|pose|waypoint|co-ordinates|target|somewhere with|a spot with|anywhere|goal|'
        'a location|somewhere that is|to where'
    ),
    'EXPLORE': (
        'explore|analyze|analyse|investigate|survey|examine|inspect|study|scout|scan|check out|'
        'research|map|probe|assess|characterize|scout out|reconnoitre|look over|evaluate|'
        'do a survey of|carry out a survey of|make a survey of|perform an analysis of|analysis|'
        'exploration|an analysis of|a survey of|do an analysis of'
    ),
    'VIEW': (
        'look at|take a look at|have a look at|search|check|look into|find out|'
        'have a good look at|find out what|learn about|find out about|see what|see how|'
        'take a good look at|observe|watch|look around|walk around|drive around'
    ),
    'EXPLORE+ING': (
        'exploring|analyzing|analysing|investigating|surveying|examining|inspecting|scanning|'
        'you explore|studying'
    ),
    'GROUND': (
        'sky|horizon|hill|hills|mountain|mountains|sunset|yourself|shadow of the rover|ground|'
        'terrain|texture|textures|soil|surface|area|surroundings|rocks|rock|site|environment|'
        'mars|landscape|vicinity|region|sand|ground texture|neighborhood|neighbourhood|scene|'
        'scenery|dirt|regolith|land|place|martian|zone|geology|floor|planet|around you|'
        'around here|ahead of you|nearby|immediate|view|the ground here|features|crater|local|'
        'stones|stone|texture of the ground'
    ),
    'BASE': (
        'base|home|start|start position|starting point|starting position|origin|station|'
        'starting place|where you started|where you began|where we started|start point|'
        'charging station|charger|home base|initial position|home position|base camp|dock|camp|'
        'the beginning|original position|starting location|where you came from|charging place|'
        'lander|where it all began|start location|beginning|point of origin|point of departure|'
        'docking station|your start|headquarters'
    ),
    'BACK': (
        'come back|return|go back|drive back|head back|get back|back|move back|come back here|'
        'return here|come back to me|back here|come back to where you are now|'
        'return to where you are now|back to where you are now|back to here|back again|'
        'return to this spot|return to this place|back to this spot|back to this place|'
        'come back to this spot|travel back|come back again|roll back|come on back|'
        'to where you are|back to your current position|return to your current position|'
        'to where you were|back to where you were|return to where you were|turn back|'
        'back to the same spot|back to me|return to me|make your way back'
    ),
    'HOMEWARD': (
        'rtb|go home|come home|drive home|head home|return home|homeward|back home|go back home'
    ),
    'BACK+ING': (
        'coming back|returning|going back|driving back|you return|you come back|heading back'
    ),
    'WAIT': (
        'wait|pause|hold|sleep|stay|rest|idle|hang on|stand by|stay put|do nothing|hold on|'
        'stand still|linger|stay still|wait there|wait here|delay|let pass|remain|relax|'
        'take a break|have a rest|stay there|stop|halt|stop there|freeze'
    ),
    'WAIT+ING': 'waiting|pausing|you wait|resting|a pause of|a wait of|a break of',
    'REPORT': (
        'report|tell me|tell us|show|show me|give me|give us|send me|state|check|print|display|'
        'let me know|get|read out|what is|give a report of|inform me about|tell me about|'
        'inform me of|announce|say|report on|report back|report about|let us know'
    ),
    'STATUS': (
        'status|state|your status|position|your position|where you are|telemetry|condition|'
        'location|pose|how you are|get_status|status report|battery|your state|report status|'
        'status update|your condition|the result|how you are doing|where you are now|'
        'battery level|health|heading|a status report|coordinates|battery status|'
        'battery charge|your location'
    ),
    'STOPEND': (
        'and stop|then stop|and then stop|and halt|then halt|, stop|and stop there|'
        'and then halt|then stop there|and come to a stop|and stop again|stop after that|'
        'then come to a stop'
    ),
    'BATTERY': (
        'battery|charge|battery level|battery charge|power|your battery|state of charge|energy'
    ),
    'ABOVE': (
        'above|over|more than|greater than|higher than|at least|is above|exceeds|>|'
        'has more than|is more than|is over|is higher than|no less than|is at least|'
        'better than|is greater than|bigger than'
    ),
    'BELOW': (
        'below|under|less than|lower than|at most|is below|<|has less than|is less than|'
        'is under|is lower than|smaller than|drops below|falls below|no more than|is at most'
    ),
    'AXISX': 'x|x:|x =|x=|x is|x equals|x-coordinate|x coordinate',
    'AXISY': 'y|y:|y =|y=|y is|y equals|y-coordinate|y coordinate|, y|and y|, y =|, y=',
    'MINUS': 'minus|negative',
    'UNIT DUR 1': "s|sec|secs|second|seconds|second's|secnds|secodns",
    'UNIT DUR 60': 'min|mins|minute|minutes',
    'UNIT DUR 3600': 'h|hour|hours|hr|hrs',
    'UNIT DIST 1': 'm|meter|meters|metre|metres|mtr|meteres|metters|m.',
    'UNIT DIST 0.01': 'cm|centimeter|centimeters|centimetre|centimetres',
    'UNIT DIST 0.001': 'mm|millimeter|millimeters|millimetre|millimetres',
    'UNIT DIST 1000': 'km|kilometer|kilometers|kilometre|kilometres|kms',
    'UNIT DIST 0.3048': 'ft|foot|feet',
    'UNIT DIST 0.9144': 'yard|yards|yd',
    'UNIT ANGLE 1': 'degree|degrees|deg|degs|°|degress|degreees',
    'UNIT ANGLE 57.29577951308232': 'rad|radian|radians',
    'UNIT ANGLE 360': 'full turns|turns|rotations|circles|revolutions|full rotations',
    'UNIT PCT 1': '%|percent|per cent|pct',
    'UNIT TIMES 1': 'times|time|x',
    'HALF': 'and a half|and half|1/2',
    'HALFOF': 'half|half a|half an|a half|one half|half of a',
    'QUARTEROF': 'quarter|quarter of a|a quarter of a|a quarter of an|quarter of an',
    'TIMES 1': 'once',
    'TIMES 2': 'twice|two times|2 times|2x|x2|one more time',
    'TIMES 3': 'thrice|three times',
    'REPEAT': (
        'repeat|repeat that|repeat this|repeat it|do that|do this|do it|do so|all of that|'
        'and repeat|all this|do all that|do all this|do the whole thing|do all of that'
    ),
    'COUNT 2': 'a couple of|a pair of|a couple|couple of|pair of',
    'EACH': 'different|separate|single|more|new|consecutive|in a row',
    'NUM 0': 'zero',
    'NUM 1': 'one',
    'NUM 2': 'two',
    'NUM 3': 'three',
    'NUM 4': 'four',
    'NUM 5': 'five',
    'NUM 6': 'six',
    'NUM 7': 'seven',
    'NUM 8': 'eight',
    'NUM 9': 'nine',
    'NUM 10': 'ten',
    'NUM 11': 'eleven',
    'NUM 12': 'twelve',
    'NUM 13': 'thirteen',
    'NUM 14': 'fourteen',
    'NUM 15': 'fifteen',
    'NUM 16': 'sixteen',
    'NUM 17': 'seventeen',
    'NUM 18': 'eighteen',
    'NUM 19': 'nineteen',
    'NUM 20': 'twenty',
    'NUM 30': 'thirty',
    'NUM 40': 'forty|fourty',
    'NUM 50': 'fifty',
    'NUM 60': 'sixty',
    'NUM 70': 'seventy',
    'NUM 80': 'eighty',
    'NUM 90': 'ninety',
    'NUM 12.0': 'a dozen|dozen',
    'TENFOLD 100': 'hundred|a hundred',
    'TENFOLD 1000': 'thousand|a thousand',
    'POINT': 'point',
}
